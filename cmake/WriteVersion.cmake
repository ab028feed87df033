# Writes version.h with the git revision, if it is not the one already there.
# Run at build time: cmake -DSOURCE= -DOUTPUT= -DVERSION= -P WriteVersion.cmake
execute_process(COMMAND git describe --always --dirty --exclude=*
  WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE revision ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT revision)
  set(revision "unknown")
endif()
set(text "#define MMX_VERSION \"${VERSION}\"\n#define MMX_REVISION \"${revision}\"\n")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
