// Which keys a query may look at when the last query belongs to the last key.
#pragma once

namespace attention {

__device__ __forceinline__ int keys_seen_by(int row, int tokens, int keys) {
  return keys - tokens + row + 1;
}

}  // namespace attention
