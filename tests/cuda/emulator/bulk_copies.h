/* bulk_copies.h - what kernels use of templates/cuda/bulk.h, in C++: copies of tensors' tiles, done where they are
 * asked for, and the barriers that count them. emulator.h includes it. */
#ifndef BULK_COPIES_H
#define BULK_COPIES_H

#include <stdint.h>

/* A tensor map, as this driver writes one. */
typedef struct emulator_map {
  char *at;
  uint64_t strides[5]; /* bytes */
  uint64_t extents[5];
  uint16_t box[5];
  uint8_t dims, bytes, rotated; /* rotated: in chunks of 16 bytes, as those of 128 are */
  uint8_t rounded;              /* numbers, to 11 digits */
  char rest[22];
} emulator_map;

#ifdef __cplusplus
extern "C" {
#endif

/* Waits for the block's first threads; lets threads of other warps run, `rounds` times in a row. */
void emulator_await_first(unsigned threads);
void emulator_let_others(unsigned rounds);

#ifdef __cplusplus
}

#define LATHE_BULK_H

typedef emulator_map lathe_map;

/* In the eight bytes of a barrier. */
struct emulator_phase {
  uint16_t arrivals, left; /* left: that have not come in this phase */
  int32_t bytes : 31;      /* that have not */
  uint32_t parity : 1;
};
static_assert(sizeof(emulator_phase) == sizeof(unsigned long long), "a phase is in a barrier");

static inline emulator_phase *emulator_phase_of(unsigned long long *barrier) {
  return reinterpret_cast<emulator_phase *>(barrier);
}

static inline void emulator_end_phase(emulator_phase *p) {
  if (p->left > 0 || p->bytes > 0)
    return;
  p->left = p->arrivals;
  p->parity ^= 1;
}

static inline bool lathe_is_elected() {
  return threadIdx.x % 32 == 0;
}

static inline void lathe_expect_map(const lathe_map &) {
}

static inline void lathe_open(unsigned long long *barrier, unsigned arrivals) {
  *emulator_phase_of(barrier) = {(uint16_t)arrivals, (uint16_t)arrivals, 0, 0};
}

static inline void lathe_show_barriers() {
}

static inline void lathe_arrive_before(unsigned long long *barrier, unsigned bytes) {
  emulator_phase *const p = emulator_phase_of(barrier);
  p->bytes += (int)bytes;
  p->left--;
  emulator_end_phase(p);
}

/* Who waits for that goes on at once. */
static inline void lathe_arrive(unsigned long long *barrier) {
  const unsigned parity = emulator_phase_of(barrier)->parity;
  lathe_arrive_before(barrier, 0);
  if (emulator_phase_of(barrier)->parity != parity)
    emulator_let_others(0);
}

static inline void lathe_await_phase(unsigned long long *barrier, unsigned parity) {
  for (unsigned rounds = 0; emulator_phase_of(barrier)->parity == parity; rounds++)
    emulator_let_others(rounds);
}

/* Elements beyond a tensor are zero. Where chunks are rotated, three bits of the address from 128 on say by how
 * much. */
template <typename... Indexes>
static inline void lathe_fetch(void *to, const lathe_map &map, unsigned long long *barrier,
                               Indexes... indexes) {
  const int64_t first[5] = {(int64_t)indexes...};
  unsigned count = 1;

  for (int d = 0; d < map.dims; d++)
    count *= map.box[d];
  for (unsigned nth = 0; nth < count; nth++) {
    const char *from = map.at;
    bool is_there = sizeof...(indexes) == map.dims;
    unsigned rest = nth;
    for (int d = 0; d < map.dims; d++) {
      const int64_t index = first[d] + rest % map.box[d];
      rest /= map.box[d];
      is_there = is_there && index >= 0 && index < (int64_t)map.extents[d];
      from += (is_there ? (uint64_t)index : 0) * map.strides[d];
    }
    uint64_t at = (uint64_t)to + nth * map.bytes;
    at ^= map.rotated ? (at >> 7 & 7) << 4 : 0;
    char element[8] = {};
    if (is_there)
      memcpy(element, from, map.bytes);
    if (map.rounded) {
      float number;
      memcpy(&number, element, sizeof number);
      const unsigned bits =
          (__float_as_uint(number) + (fabsf(number) < INFINITY ? 0x1000 : 0)) & ~0x1fffu;
      memcpy(element, &bits, sizeof bits);
    }
    memcpy((char *)at, element, map.bytes);
    memcpy((char *)(at - (uint64_t)room + (uint64_t)room_shown), element, map.bytes);
  }
  emulator_phase_of(barrier)->bytes -= (int)(count * map.bytes);
  emulator_end_phase(emulator_phase_of(barrier));
}

template <int REGISTERS> static inline void lathe_leave_registers() {
}

template <int REGISTERS> static inline void lathe_take_registers() {
}

template <int THREADS> static inline void lathe_await_first() {
  emulator_await_first(THREADS);
}

template <int THREADS> static inline void lathe_await_turn(int) {
}

template <int THREADS> static inline void lathe_give_turn(int) {
}
#endif

#endif
