__constant__ float cw[64]; __constant__ int ci[4]={1,2,3,4}; __device__ int counter=5;
extern "C" __global__ void localarr(const int*idx,float*y,int n){ float a[24]; for(int k=0;k<24;k++) a[k]=cw[k]*k; int i=threadIdx.x; for(int k=0;k<n;k++) a[idx[i+k]%24]+=cw[(i+k)&63]; float s=0; for(int k=0;k<24;k++) s+=a[k]; y[i]=s+ci[i&3]+counter; if(i==0) counter=7; }  // FINDING race counter
