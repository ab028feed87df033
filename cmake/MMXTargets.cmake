# Target helpers. Compiler code is built without RTTI and exceptions, as LLVM
# is; the runtime uses neither LLVM nor MLIR and keeps the C++ defaults.

add_library(mmx_options INTERFACE)
target_compile_options(mmx_options INTERFACE -Wall -Wextra -Wno-unused-parameter
                                             -fvisibility-inlines-hidden)
if(MMX_SANITIZE)
  target_compile_options(mmx_options INTERFACE
    -fsanitize=${MMX_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=undefined)
  target_link_options(mmx_options INTERFACE -fsanitize=${MMX_SANITIZE})
endif()
target_include_directories(mmx_options INTERFACE
  ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR}/include)

# mmx_compiler_library(NAME SOURCES... [LINK targets...] [DEPENDS targets...])
function(mmx_compiler_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
  # LLVM's headers lay out some classes by NDEBUG: code must be compiled as
  # the libraries were.
  if(NOT LLVM_ENABLE_ASSERTIONS)
    target_compile_definitions(${name} PUBLIC NDEBUG)
  endif()
  target_include_directories(${name} SYSTEM PUBLIC
    ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC mmx_options ${ARG_LINK})
  add_dependencies(${name} mmx-headers ${ARG_DEPENDS})
endfunction()

# mmx_compiler_tool(NAME SOURCES... [LINK targets...])
function(mmx_compiler_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE -fno-rtti -fno-exceptions)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# mmx_tablegen(FILE.td GENERATOR-FLAG OUTPUT ...): pairs of flag and output,
# written beside the .td in the build tree; collected by mmx-headers.
function(mmx_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(pairs ${ARGN})
  set(outputs)
  while(pairs)
    list(POP_FRONT pairs flag out)
    separate_arguments(flags UNIX_COMMAND "${flag}")
    mlir_tablegen(${out} ${flags}
      EXTRA_INCLUDES ${CMAKE_SOURCE_DIR}/include ${MLIR_INCLUDE_DIRS})
    list(APPEND outputs ${CMAKE_CURRENT_BINARY_DIR}/${out})
  endwhile()
  string(REPLACE "/" "-" id "${CMAKE_CURRENT_SOURCE_DIR}-${td}")
  string(MD5 id "${id}-${ARGN}")
  add_custom_target(mmx-tablegen-${id} DEPENDS ${outputs})
  add_dependencies(mmx-headers mmx-tablegen-${id})
endfunction()
