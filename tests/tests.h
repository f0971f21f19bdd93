/* tests.h - the groups of tests that main.c runs, in order. Each test_NAME.c defines NAME_tests
 * and NAME_test_count; a new one is a row here; configure finds its file. */
#ifndef TESTS_H
#define TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST_GROUPS(GROUP)                                                                         \
  GROUP(template)                                                                                  \
  GROUP(schema)                                                                                    \
  GROUP(sandbox)                                                                                   \
  GROUP(names)                                                                                     \
  GROUP(expression)                                                                                \
  GROUP(tracing)                                                                                   \
  GROUP(generator)                                                                                 \
  GROUP(generator_calls)                                                                           \
  GROUP(generator_tables)                                                                          \
  GROUP(generator_bytes)                                                                           \
  GROUP(stages)                                                                                    \
  GROUP(build)                                                                                     \
  GROUP(images)                                                                                    \
  GROUP(runtime)                                                                                   \
  GROUP(statistics)                                                                                \
  GROUP(formats)                                                                                   \
  GROUP(random)                                                                                    \
  GROUP(select)                                                                                    \
  GROUP(sizes)                                                                                     \
  GROUP(ceilings)                                                                                  \
  GROUP(tuning)                                                                                    \
  GROUP(launch)                                                                                    \
  GROUP(check)                                                                                     \
  GROUP(judge)                                                                                     \
  GROUP(sampling)                                                                                  \
  GROUP(magnitude)                                                                                 \
  GROUP(parts)                                                                                     \
  GROUP(threads)                                                                                   \
  GROUP(kernels)                                                                                   \
  GROUP(wrong_kernels)                                                                             \
  GROUP(references)                                                                                \
  GROUP(gradients)                                                                                 \
  GROUP(command_line)                                                                              \
  GROUP(features)                                                                                  \
  GROUP(output_files)                                                                              \
  GROUP(tables)                                                                                    \
  GROUP(signals)                                                                                   \
  GROUP(planted)                                                                                   \
  GROUP(values)                                                                                    \
  GROUP(training)                                                                                  \
  GROUP(worker)

#define DECLARE_GROUP(name)                                                                        \
  extern const struct CMUnitTest name##_tests[];                                                   \
  extern const size_t name##_test_count;
TEST_GROUPS(DECLARE_GROUP)
#undef DECLARE_GROUP

#endif
