// One step of heat flow on a grid of nz x ny x nx cells, x innermost; the outermost cells keep
// their value.
//
// @launch grid=(cdiv(nx, 32), cdiv(ny, ROWS), nz) block=(32, ROWS)
// @tune ROWS = 4, 2, 8

extern "C" __global__ void stencil(const float* __restrict__ now, float* __restrict__ next,
                                   float rate, int nz, int ny, int nx) {
  const int x = blockIdx.x * 32 + threadIdx.x;
  const int y = blockIdx.y * ROWS + threadIdx.y;
  const int z = blockIdx.z;
  if (x >= nx || y >= ny) {
    return;
  }
  const size_t plane = static_cast<size_t>(ny) * nx;
  const size_t at = z * plane + static_cast<size_t>(y) * nx + x;
  const float centre = now[at];
  const bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && z > 0 && z < nz - 1;
  if (!inside) {
    next[at] = centre;
    return;
  }
  const float around =
      now[at - 1] + now[at + 1] + now[at - nx] + now[at + nx] + now[at - plane] + now[at + plane];
  next[at] = centre + rate * (around - 6.0f * centre);
}
