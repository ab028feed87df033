//===- TestKernels.c - Kernels of the hand-made test package --------------===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model small enough to work out by hand (TestModel.h): token rows of width
// 4, a decaying sum as recurrent state, and a sum over the cached rows.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

enum { width = 4, page = 4 };

// buffers: ids, table, rows. Grid: tokens.
void test_embed(void *const *buffers, const int64_t *extents, int64_t i,
                int64_t j, int64_t k, void *scratch) {
  const int32_t *ids = buffers[0];
  const float *table = buffers[1];
  float *rows = buffers[2];
  for (int c = 0; c < width; ++c)
    rows[i * width + c] = table[ids[i] * width + c];
}

// buffers: rows (in and out), starts, slots, states, rate. Grid: sequences.
void test_recur(void *const *buffers, const int64_t *extents, int64_t i,
                int64_t j, int64_t k, void *scratch) {
  float *rows = buffers[0];
  const int32_t *starts = buffers[1];
  const int32_t *slots = buffers[2];
  float *state = (float *)buffers[3] + slots[i] * width * width;
  const float *rate = buffers[4];
  float *sum = scratch;
  for (int32_t t = starts[i]; t < starts[i + 1]; ++t) {
    for (int c = 0; c < width; ++c) {
      state[c] = rate[0] * state[c] + rows[t * width + c];
      sum[c] = state[c];
    }
    for (int c = 0; c < width; ++c)
      rows[t * width + c] = sum[c];
  }
}

// buffers: rows, starts, past, cache_rows, pages, cache, result.
// extents: tokens, page columns. Grid: sequences.
void test_attend(void *const *buffers, const int64_t *extents, int64_t i,
                 int64_t j, int64_t k, void *scratch) {
  const float *rows = buffers[0];
  const int32_t *starts = buffers[1];
  const int32_t *past = buffers[2];
  const int32_t *cacheRows = buffers[3];
  const int32_t *pages = (const int32_t *)buffers[4] + i * extents[1];
  float *cache = buffers[5];
  float *result = buffers[6];
  for (int32_t t = starts[i]; t < starts[i + 1]; ++t)
    for (int c = 0; c < width; ++c)
      cache[cacheRows[t] * width + c] = rows[t * width + c];
  for (int32_t t = starts[i]; t < starts[i + 1]; ++t) {
    int32_t position = past[i] + t - starts[i];
    for (int c = 0; c < width; ++c) {
      float sum = 0;
      for (int32_t p = 0; p <= position; ++p)
        sum += cache[(pages[p / page] * page + p % page) * width + c];
      result[t * width + c] = sum;
    }
  }
}

// buffers: rows, logit_rows, head in panels of 4, logits. extents: outputs,
// vocab. Grid: outputs, panels of the vocabulary.
void test_head(void *const *buffers, const int64_t *extents, int64_t i,
               int64_t j, int64_t k, void *scratch) {
  const float *row =
      (const float *)buffers[0] + ((const int32_t *)buffers[1])[i] * width;
  const float *panel = (const float *)buffers[2] + j * 4 * width;
  float *logits = (float *)buffers[3] + i * extents[1];
  for (int64_t n = 0; n < 4 && j * 4 + n < extents[1]; ++n) {
    float sum = 0;
    for (int c = 0; c < width; ++c)
      sum += row[c] * panel[c * 4 + n];
    logits[j * 4 + n] = sum;
  }
}
