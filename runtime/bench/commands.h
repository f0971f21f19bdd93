/* commands.h - what the bench program does with stored runs. */
#ifndef COMMANDS_H
#define COMMANDS_H

/* Does what a command line's arguments, which begin with the command's name, ask for; the exit status. */
typedef int command(int argc, char **argv);

/* The command of that name, null where there is none. */
command *command_of(const char *name);

/* Prints how a command is used, and ends the program well. */
_Noreturn void command_help(const char *usage);

#endif
