#include <lauxlib.h>
#include <lualib.h>
#if LUA_VERSION_NUM != 504
#error not Lua 5.4
#endif
int main(void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  return luaL_dostring(L, "assert(7 // 2 == 3)");
}
