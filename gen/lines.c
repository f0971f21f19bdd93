#define _GNU_SOURCE
#include "lines.h"

#include <ctype.h>
#include <lauxlib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows. */
typedef struct text {
  char *at;
  size_t length, room;
} text;

enum { NO_LINE = -1, FROM_NOWHERE = 0, FROM_ITSELF = -1 };

/* The main text, or a piece of it. */
typedef struct piece {
  text text;
  size_t *own; /* where in the text a #line is to name the generated file itself */
  size_t owns, own_room;
  bool blank;    /* a blank line is due */
  bool alone;    /* nothing above, or a brace that opens */
  int from;      /* the template that the compiler takes the last line to be from */
  int next_line; /* and the line of it that it takes the next one for, or NO_LINE */
} piece;

typedef struct lines {
  piece *pieces;
  size_t count, room;
  size_t place, owns_above; /* in the first piece; place: SIZE_MAX where none was left */
  int margin, shift;        /* columns, of the function that runs, and of indent() */
  int *outer;               /* the margins of the functions that called it */
  size_t depth, outer_room;
  text pasted; /* the line that is put together */
} lines;

static const char type_name[] = "lines";

/* Room for one element more. */
static void *grown(lua_State *L, void *old, size_t count, size_t *room, size_t size) {
  if (count < *room) {
    return old;
  }
  size_t wanted = *room ? 2 * *room : 16;
  void *new = realloc(old, wanted * size);
  if (!new) {
    luaL_error(L, "not enough memory");
  }
  *room = wanted;
  return new;
}

/* Room for so many bytes more; returns where they go. */
static char *extend(lua_State *L, text *t, size_t size) {
  if (size >= t->room - t->length) { /* of nothing too there is a place */
    size_t room = 2 * t->room + size + 256;
    char *new = realloc(t->at, room);
    if (!new) {
      luaL_error(L, "not enough memory");
    }
    t->at = new;
    t->room = room;
  }
  char *end = t->at + t->length;
  t->length += size;
  return end;
}

static void append(lua_State *L, text *t, const char *from, size_t size) {
  memcpy(extend(L, t, size), from, size);
}

static void begin_piece(lua_State *L, lines *all) {
  all->pieces = grown(L, all->pieces, all->count, &all->room, sizeof *all->pieces);
  all->pieces[all->count++] = (piece){.alone = true, .next_line = NO_LINE};
}

/* Puts a line that begins so far in. from, path, number: the template and its line; from: FROM_ITSELF where it is the
 * generated file's own; path: null without #line; sync: whether a #line may come before it. */
static void put(lua_State *L, lines *all, int from, const char *path, int number, int indent,
                bool sync, const char *content, size_t size) {
  piece *p = &all->pieces[all->count - 1];
  if (size == 0) {
    p->blank = !p->alone;
    return;
  }
  if (p->blank && content[0] != '}') {
    append(L, &p->text, "\n", 1);
    p->next_line += p->next_line != NO_LINE;
  }
  p->blank = false;
  p->alone = content[size - 1] == '{';
  if (!sync || !path || (p->from == from && (from == FROM_ITSELF || p->next_line == number))) {
    p->next_line += p->next_line != NO_LINE;
  } else if (from == FROM_ITSELF) {
    p->own = grown(L, p->own, p->owns, &p->own_room, sizeof *p->own);
    p->own[p->owns++] = p->text.length;
    p->from = from;
    p->next_line = NO_LINE;
  } else {
    const char *mark = lua_pushfstring(L, "#line %d \"%s\"\n", number, path);
    append(L, &p->text, mark, strlen(mark));
    lua_pop(L, 1);
    p->from = from;
    p->next_line = number + 1;
  }
  size_t spaces = content[0] == '#' || indent < 0 ? 0 : (size_t)indent;
  char *to = extend(L, &p->text, spaces + size + 1);
  memset(to, ' ', spaces);
  memcpy(to + spaces, content, size);
  to[spaces + size] = '\n';
}

/* Of the functions that write: the object, the template's number, and its path or nil. */
enum { LINES = 1, FROM, PATH, INDENTS = FROM };

static lines *writer(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(LINES));
}

static int put_line(lua_State *L) {
  lines *all = writer(L);
  size_t size;
  const char *content = lua_tolstring(L, 4, &size);
  put(L, all, (int)lua_tointeger(L, lua_upvalueindex(FROM)),
      lua_tostring(L, lua_upvalueindex(PATH)), (int)lua_tointeger(L, 1),
      all->margin + all->shift + (int)lua_tointeger(L, 2), lua_toboolean(L, 3), content, size);
  return 0;
}

/* Puts the arguments from the first on together. */
static const text *paste(lua_State *L, lines *all, int first) {
  all->pasted.length = 0;
  for (int i = first; i <= lua_gettop(L); i++) {
    if (lua_type(L, i) != LUA_TSTRING && !lua_isinteger(L, i)) {
      luaL_error(L, "expected a string or a whole number to paste, found %s%s",
                 lua_isnil(L, i) ? "" : "a ",
                 lua_type(L, i) == LUA_TNUMBER ? "float" : luaL_typename(L, i));
    }
    size_t size;
    const char *content = lua_tolstring(L, i, &size);
    append(L, &all->pasted, content, size);
  }
  return &all->pasted;
}

static int put_lines(lua_State *L) {
  lines *all = writer(L);
  const text *pasted = paste(L, all, 5);
  int indent = all->margin + all->shift + (int)lua_tointeger(L, 2);
  bool sync = lua_toboolean(L, 3), alone = lua_toboolean(L, 4);
  const char *path = lua_tostring(L, lua_upvalueindex(PATH));
  const char *at = pasted->at, *end = pasted->at + pasted->length;
  if (pasted->length == 0 && alone) {
    return 0;
  }
  const char *stop = memchr(at, '\n', pasted->length);
  if (!stop) {
    put(L, all, (int)lua_tointeger(L, lua_upvalueindex(FROM)), path, (int)lua_tointeger(L, 1),
        indent, sync, at, pasted->length);
    return 0;
  }
  for (; stop; at = stop + 1, stop = memchr(at, '\n', (size_t)(end - at))) {
    put(L, all, FROM_ITSELF, path, 0, indent, sync, at, (size_t)(stop - at));
  }
  put(L, all, FROM_ITSELF, path, 0, indent, sync, at, (size_t)(end - at));
  return 0;
}

/* How far in the nearest line of a template begins that called what runs at that level of the stack. */
static int indent_of_caller(lua_State *L, int level) {
  lua_Debug frame;
  while (lua_getstack(L, ++level, &frame)) {
    lua_getinfo(L, "f", &frame);
    if (lua_gettable(L, lua_upvalueindex(INDENTS)) == LUA_TTABLE) {
      lua_getinfo(L, "l", &frame);
      lua_geti(L, -1, frame.currentline);
      return (int)lua_tointeger(L, -1);
    }
    lua_pop(L, 1);
  }
  return 0;
}

static int enter(lua_State *L) {
  lines *all = writer(L);
  int inner = all->margin + indent_of_caller(L, 1) - (int)lua_tointeger(L, 1);
  all->outer = grown(L, all->outer, all->depth, &all->outer_room, sizeof *all->outer);
  all->outer[all->depth++] = all->margin;
  all->margin = inner;
  lua_pushvalue(L, lua_upvalueindex(LINES));
  return 1;
}

static lines *self(lua_State *L) {
  return luaL_checkudata(L, 1, type_name);
}

/* The function that entered is left. */
static int leave(lua_State *L) {
  lines *all = self(L);
  all->margin = all->outer[--all->depth];
  return 0;
}

static int get_writers(lua_State *L) {
  self(L);
  lua_settop(L, 3);
  static const lua_CFunction write[] = {put_line, put_lines};
  for (int i = 0; i < 2; i++) {
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, 3);
    lua_pushcclosure(L, write[i], PATH);
  }
  lua_pushvalue(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_pushcclosure(L, enter, INDENTS);
  return 3;
}

static int shift(lua_State *L) {
  self(L)->shift += (int)lua_tointeger(L, 2);
  return 0;
}

static int leave_place(lua_State *L) {
  lines *all = self(L);
  piece *p = &all->pieces[0];
  all->place = p->text.length;
  all->owns_above = p->owns;
  p->blank = false;
  p->alone = true;
  p->from = FROM_NOWHERE;
  return 0;
}

static int new_piece(lua_State *L) {
  lines *all = self(L);
  begin_piece(L, all);
  lua_pushinteger(L, (lua_Integer)all->count);
  return 1;
}

static piece *piece_at(lua_State *L, lines *all, int index) {
  lua_Integer number = lua_tointeger(L, index);
  luaL_argcheck(L, number >= 1 && (size_t)number <= all->count, index, "no such piece");
  return &all->pieces[number - 1];
}

static int names(lua_State *L) {
  const piece *p = piece_at(L, self(L), 2);
  static const char prefix[] = "lathe_";
  lua_newtable(L);
  const char *end = p->text.at + p->text.length;
  const char *at = p->text.length > 0 ? p->text.at : end;
  while ((at = memmem(at, (size_t)(end - at), prefix, sizeof prefix - 1))) {
    const char *stop = at + sizeof prefix - 1;
    while (stop < end && (isalnum((unsigned char)*stop) || *stop == '_')) {
      stop++;
    }
    if (stop > at + sizeof prefix - 1) {
      lua_pushlstring(L, at, (size_t)(stop - at));
      lua_pushboolean(L, true);
      lua_rawset(L, -3);
    }
    at = stop;
  }
  return 1;
}

static lua_Integer newlines(const char *at, size_t size) {
  lua_Integer count = 0;
  const char *end = at + size;
  while (size > 0 && (at = memchr(at, '\n', (size_t)(end - at)))) {
    count++;
    if (++at == end) {
      break;
    }
  }
  return count;
}

typedef struct joined {
  luaL_Buffer text;
  const char *path;
  lua_Integer count;
} joined;

static void add(joined *to, const char *at, size_t size) {
  luaL_addlstring(&to->text, at, size);
  to->count += newlines(at, size);
}

/* Adds the text of a piece between two places, with a blank line above. */
static void add_piece(lua_State *L, joined *to, const piece *p, size_t from, size_t stop,
                      size_t own, size_t owns) {
  if (from == stop) {
    return;
  }
  add(to, "\n", 1);
  for (; own < owns; own++) {
    add(to, p->text.at + from, p->own[own] - from);
    from = p->own[own];
    lua_pushfstring(L, "#line %I \"%s\"\n", to->count + 2, to->path);
    luaL_addvalue(&to->text);
    to->count++;
  }
  add(to, p->text.at + from, stop - from);
}

static int release(lua_State *L) {
  lines *all = self(L);
  for (size_t i = 0; i < all->count; i++) {
    free(all->pieces[i].text.at);
    free(all->pieces[i].own);
  }
  free(all->pieces);
  free(all->outer);
  free(all->pasted.at);
  *all = (lines){.place = SIZE_MAX};
  return 0;
}

static int join(lua_State *L) {
  lines *all = self(L);
  size_t size;
  const char *prelude = luaL_checklstring(L, 2, &size);
  joined to = {.path = luaL_checkstring(L, 3), .count = luaL_checkinteger(L, 4)};
  luaL_buffinit(L, &to.text);
  add(&to, prelude, size);
  const piece *p = &all->pieces[0];
  bool placed = all->place != SIZE_MAX;
  size_t place = placed ? all->place : p->text.length, above = placed ? all->owns_above : p->owns;
  add_piece(L, &to, p, 0, place, 0, above);
  for (lua_Integer i = 1, n = (lua_Integer)lua_rawlen(L, 5); i <= n; i++) {
    lua_rawgeti(L, 5, i);
    const piece *other = piece_at(L, all, -1);
    lua_pop(L, 1);
    add_piece(L, &to, other, 0, other->text.length, 0, other->owns);
  }
  add_piece(L, &to, p, place, p->text.length, above, p->owns);
  luaL_pushresult(&to.text);
  lua_pushinteger(L, to.count);
  release(L);
  return 2;
}

int lines_new(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"writers", get_writers}, {"indent", shift}, {"leave_place", leave_place},
      {"piece", new_piece},     {"names", names},  {"join", join},
      {"__close", leave},       {"__gc", release}, {NULL, NULL}};
  luaL_checktype(L, 1, LUA_TTABLE);
  lines *all = lua_newuserdatauv(L, sizeof *all, 1);
  *all = (lines){.place = SIZE_MAX};
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  if (luaL_newmetatable(L, type_name)) {
    luaL_setfuncs(L, methods, 0);
    lua_pushvalue(L, -1);
    lua_setfield(L, -2, "__index");
  }
  lua_setmetatable(L, -2);
  begin_piece(L, all);
  return 1;
}
