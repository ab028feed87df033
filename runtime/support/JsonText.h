//===- JsonText.h - JSON that strangers wrote -------------------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pure functions.
//
//===----------------------------------------------------------------------===//

#ifndef MMX_RUNTIME_SUPPORT_JSONTEXT_H
#define MMX_RUNTIME_SUPPORT_JSONTEXT_H

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace mmx::runtime {

/// Throws Error if arrays and objects in `text` are nested more than 64 levels
/// deep: values are written and read by functions that call themselves. The
/// text need not be JSON. `name` stands before the message.
void refuseDeepJson(std::string_view text, std::string_view name = "");

/// A value in a message: its text, cut after 60 bytes.
std::string shortJson(const nlohmann::json &value);

} // namespace mmx::runtime

#endif // MMX_RUNTIME_SUPPORT_JSONTEXT_H
