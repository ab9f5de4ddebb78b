# Writes OUTPUT, a source that defines `cudaopt::model_digest()`: a digest of what decides counters and modelled
# latencies. The same sources give the same digest on every machine; nothing is written if it is there already.
#
#   cmake -D SOURCE_DIR=... -D OUTPUT=... -P model_digest.cmake
file(GLOB DECIDING RELATIVE "${SOURCE_DIR}"
  "${SOURCE_DIR}/src/ptx/*.?pp" "${SOURCE_DIR}/src/sim/*.?pp" "${SOURCE_DIR}/src/model/*.?pp"
  "${SOURCE_DIR}/src/device.?pp" "${SOURCE_DIR}/src/argument_bytes.?pp")
list(SORT DECIDING)
set(LISTED "")
foreach(NAME IN LISTS DECIDING)
  file(SHA256 "${SOURCE_DIR}/${NAME}" CONTENT)
  string(APPEND LISTED "${NAME} ${CONTENT}\n")
endforeach()
string(SHA256 DIGEST "${LISTED}")
string(SUBSTRING "${DIGEST}" 0 12 DIGEST)
set(TEXT "#include \"model_digest.hpp\"\n\nnamespace cudaopt {\n\nconst char* model_digest() { return \"${DIGEST}\"; }\n\n}  // namespace cudaopt\n")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" BEFORE)
endif()
if(NOT TEXT STREQUAL "${BEFORE}")
  file(WRITE "${OUTPUT}" "${TEXT}")
endif()
