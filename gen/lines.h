/* lines.h - the lines of a generated file: how far in they begin, blank lines, and #line, which says where each is
 * from. It is in C because a build writes some two million lines. */
#ifndef LATHE_LINES_H
#define LATHE_LINES_H

#include <lua.h>

/* Pushes the function `lines(indents)`, which makes an object that lines are put into. indents: by function, how far in
 * each line of its template begins, or false of a function of no template. The object's methods:
 *   writers(number, path)  the functions line, lines and enter, by which the template with that number writes. path:
 *                          its file as #line names it, found from where the compiler runs; nil: without #line
 *   indent(columns)        moves all that follows by so many columns
 *   leave_place()          leaves a place here, for what join() puts there
 *   piece()                what follows is a piece of the text, with a number of its own, which is returned
 *   names(piece)           the names in a piece that begin with lathe_, as a set; piece 1 is the main text
 *   join(prelude, path, count, pieces)  the text below a prelude of whole lines, with the pieces of a list in the place
 *                          left for them, blank lines between; and how many lines there are then. path, count: the
 *                          generated file's name, and how many lines it has already. Gives the object's memory back.
 *
 * line(number, indent, sync, text) puts line `number` of its template, which begins so far in; sync: whether a #line
 * may come before it. lines(number, indent, sync, alone, ...) puts what may be several lines, or none where it is alone
 * on the template's line: strings and whole numbers, one after the other. Of several lines the file itself is named as
 * where they are from. enter(indent) begins a function whose own line stands so far in: its lines come out as far in as
 * the line that calls it; the function ends where what enter returns is closed.
 *
 * The preprocessor's lines begin in the first column. Of blank lines one is left, and none inside of a brace. */
int lines_new(lua_State *L);

#endif
