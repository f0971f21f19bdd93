void $k.name$(const lathe_args *args);
