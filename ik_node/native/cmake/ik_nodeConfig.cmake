# The C and C++ interface of ik_node: find_package(ik_node) makes the target ik_node::ik_node.
#
# This file stands in the package, ik_node/native/cmake, and in share/ik_node/cmake of an
# installation. It asks Python for the library of the present sources, which Python builds if there
# is none. Without Python it takes the only library beside the headers. To choose one, for example
# for another processor, set IK_NODE_LIBRARY to libik_node.so.

get_filename_component(_ik_node_here "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(_ik_node_here "${_ik_node_here}" DIRECTORY)
file(GLOB _ik_node_installed
  "${_ik_node_here}/../../../lib/python3*/*-packages/ik_node/native"
  "${_ik_node_here}/../../../local/lib/python3*/*-packages/ik_node/native")
foreach(_ik_node_native "${_ik_node_here}/.." ${_ik_node_installed})
  if(EXISTS "${_ik_node_native}/include/ik_node/ik_node.h")
    get_filename_component(_ik_node_native "${_ik_node_native}" REALPATH)
    set(_ik_node_found "${_ik_node_native}")
    break()
  endif()
endforeach()

# Not cached, because the library of a checkout changes with its sources.
set(_ik_node_library "${IK_NODE_LIBRARY}")
if(_ik_node_found AND NOT _ik_node_library)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_Interpreter_FOUND)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env "PYTHONPATH=${_ik_node_found}/../..:$ENV{PYTHONPATH}"
        "${Python3_EXECUTABLE}" -c
        "from ik_node.native.library import library; print(library().path or '')"
      OUTPUT_VARIABLE _ik_node_library OUTPUT_STRIP_TRAILING_WHITESPACE
      ERROR_VARIABLE _ik_node_said)
  endif()
  if(NOT EXISTS "${_ik_node_library}")
    file(GLOB _ik_node_library "${_ik_node_found}/lib/*/libik_node.so")
  endif()
endif()

# A list of several libraries is no file that exists.
if(NOT _ik_node_found OR NOT EXISTS "${_ik_node_library}")
  set(ik_node_FOUND FALSE)
  string(CONCAT ik_node_NOT_FOUND_MESSAGE
    "no library of ik_node (looked for '${_ik_node_library}'): build it with "
    "`python3 -m ik_node warm`, and set Python3_EXECUTABLE to that Python or IK_NODE_LIBRARY to "
    "the file it prints. ${_ik_node_said}")
elseif(NOT TARGET ik_node::ik_node)
  add_library(ik_node::ik_node SHARED IMPORTED)
  set_target_properties(ik_node::ik_node PROPERTIES
    IMPORTED_LOCATION "${_ik_node_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_ik_node_found}/include")
endif()
