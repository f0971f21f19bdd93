std = "lua54"
max_line_length = 120
ignore = { "212/self" }
exclude_files = { "out" }

-- main.c gives the stages their files and their sandbox.
files["gen"] = { read_globals = { "host" } }

-- Specs name functions of the generator's, which knows them better: a misspelt one is its error.
files["specs"] = { ignore = { "113" } }

-- Files beside templates name others by use, and know the instruction sets: gen/schedule/backends.lua.
files["templates"] = { read_globals = { "instruction_sets", "use" } }
