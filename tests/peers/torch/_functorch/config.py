donated_buffer = True
