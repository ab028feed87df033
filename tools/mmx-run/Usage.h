//===- Usage.h - What a command line should have been -----------*- C++ -*-===//
//
// Part of the mmx project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MMX_TOOLS_MMXRUN_USAGE_H
#define MMX_TOOLS_MMXRUN_USAGE_H

#include <string>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace mmx::tool {

/// Gives the commands their own examples in place of the program's.
void addExamples(CLI::App &app);

/// Throws Error with what is wrong and the option or command that is nearest,
/// or prints the help that was asked for and returns 0.
int reportParseError(const CLI::App &app, const CLI::ParseError &error);

/// Throws Error unless `model`, which a command has got, may be a checkpoint
/// directory, a config.json or a package. `before` is what stood before the
/// command.
void checkModelPath(const CLI::App &app, const std::string &model,
                    const std::string &before);

} // namespace mmx::tool

#endif // MMX_TOOLS_MMXRUN_USAGE_H
