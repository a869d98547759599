/* Deterministic CPU-bound workload. No libc, no floats, ~100 KB of data.
   Eleven kernels per repetition; every kernel folds into one 32-bit checksum.                           */
#include <stdint.h>
#include <stddef.h>
#ifndef REPS
#define REPS 1
#endif
void plat_puts(const char *s);
void plat_exit(int code);

typedef uint32_t u32; typedef uint8_t u8; typedef int32_t s32; typedef uint64_t u64; typedef uint16_t u16;
#define NI __attribute__((noinline))

static u8  buf_a[16384] __attribute__((aligned(16)));
static u8  buf_b[16384+64] __attribute__((aligned(16)));
static u32 arr[4096];
static u32 crctab[256];
static s32 ma[24*24], mb[24*24], mc[24*24];
static struct node { struct node *next; u32 key; u32 val; } nodes[1024];
static u8 sieve_[8192];
static u32 atom;

static u32 seed;
static inline u32 rnd(void){ u32 x=seed; x^=x<<13; x^=x>>17; x^=x<<5; return seed=x; }

/* --- memory primitives (explicit loops: byte tail + word body) --- */
NI void *memcpy(void *d, const void *s, size_t n){
  u8 *dp=d; const u8 *sp=s;
  if((((uintptr_t)dp|(uintptr_t)sp)&3)==0){ while(n>=16){ u32 a=((const u32*)sp)[0],b=((const u32*)sp)[1],c=((const u32*)sp)[2],e=((const u32*)sp)[3];
      ((u32*)dp)[0]=a;((u32*)dp)[1]=b;((u32*)dp)[2]=c;((u32*)dp)[3]=e; dp+=16; sp+=16; n-=16; } }
  while(n--){ *dp++=*sp++; __asm__ volatile(""); }
  return d; }
NI void *memset(void *d, int c, size_t n){ u8 *p=d; u32 w=(u8)c*0x01010101u;
  while(n && ((uintptr_t)p&3)){*p++=(u8)c; n--;} while(n>=4){*(u32*)p=w; p+=4; n-=4; __asm__ volatile("");} while(n--){*p++=(u8)c; __asm__ volatile("");} return d; }
NI static int mcmp(const void *a,const void *b,size_t n){ const u8*x=a,*y=b; while(n--){ if(*x!=*y) return *x-*y; x++;y++; } return 0; }

/* 1: table CRC32 + bitwise CRC16 */
NI static u32 k_crc(void){ u32 c=~0u; for(u32 i=0;i<sizeof buf_a;i++) c=crctab[(c^buf_a[i])&255]^(c>>8);
  u32 d=0xffff; for(u32 i=0;i<1024;i++){ d^=(u32)buf_a[i]<<8; for(int j=0;j<8;j++) d=(d&0x8000)?((d<<1)^0x1021)&0xffff:(d<<1)&0xffff; } return ~c^d; }
/* 2: quicksort, recursive, plus insertion tail */
NI static void qs(u32*a,s32 lo,s32 hi){ while(hi-lo>12){ u32 p=a[(lo+hi)>>1]; s32 i=lo,j=hi; while(i<=j){ while(a[i]<p)i++; while(a[j]>p)j--; if(i<=j){u32 t=a[i];a[i]=a[j];a[j]=t;i++;j--;} }
  if(j-lo<hi-i){ qs(a,lo,j); lo=i; } else { qs(a,i,hi); hi=j; } }
  for(s32 i=lo+1;i<=hi;i++){ u32 v=a[i]; s32 j=i-1; while(j>=lo&&a[j]>v){a[j+1]=a[j];j--;} a[j+1]=v; } }
NI static u32 k_sort(void){ for(int i=0;i<4096;i++) arr[i]=rnd(); qs(arr,0,4095); u32 h=0; for(int i=0;i<4096;i+=7) h=h*31+arr[i]; return h; }
/* 3: 24x24 integer matrix multiply (like CoreMark matrix) */
NI static u32 k_mat(void){ for(int i=0;i<24;i++) for(int j=0;j<24;j++){ s32 s=0; for(int k=0;k<24;k++) s+=ma[i*24+k]*mb[k*24+j]; mc[i*24+j]=s; } u32 h=0; for(int i=0;i<24*24;i++){ h=(h<<5)+(h>>27)+(u32)mc[i]; ma[i]=(ma[i]+(mc[i]>>9))&0xffff; } return h; }
/* 4: linked list: build shuffled, find, reverse */
NI static u32 k_list(void){ for(int i=0;i<1024;i++){ nodes[i].key=(u32)(i*2654435761u)>>20; nodes[i].val=i; nodes[i].next=&nodes[(i*389+1)&1023]; }
  struct node*p=nodes; u32 h=0; for(int i=0;i<1024;i++){ h+=p->key^p->val; p=p->next; }
  for(int i=0;i<1023;i++) nodes[i].next=&nodes[i+1]; nodes[1023].next=0; 
  struct node*r=0; p=nodes; while(p){struct node*n=p->next; p->next=r; r=p; p=n;}
  for(int f=0;f<8;f++){ u32 k=f*97; for(p=r;p&&p->key!=k;p=p->next); h+=p?p->val:k; } return h; }
/* 5: state machine: number scanner (switch) */
NI static u32 k_state(void){ u32 cnt[8]={0}; int st=0; for(u32 i=0;i<4096;i++){ u8 c=(buf_a[i]&0x3f)+0x20; 
  switch(st){ case 0: st=(c>='0'&&c<='9')?1:(c=='+'||c=='-')?2:(c=='.')?3:0; break;
    case 1: st=(c>='0'&&c<='9')?1:(c=='.')?3:(c=='E')?4:0; break;
    case 2: st=(c>='0'&&c<='9')?1:(c=='.')?3:6; break;
    case 3: st=(c>='0'&&c<='9')?3:(c=='E')?4:0; break;
    case 4: st=(c=='+'||c=='-')?5:(c>='0'&&c<='9')?5:6; break;
    case 5: st=(c>='0'&&c<='9')?5:7; break;
    default: st=0; } cnt[st]++; } u32 h=0; for(int i=0;i<8;i++) h=h*33+cnt[i]; return h; }
/* 6: sieve */
NI static u32 k_sieve(void){ memset(sieve_,1,sizeof sieve_); u32 n=0; for(u32 i=2;i<sizeof sieve_;i++) if(sieve_[i]){ n++; for(u32 j=i*i;j<sizeof sieve_ && i<91;j+=i) sieve_[j]=0; } return n; }
/* 7: bytecode interpreter: dense switch => jump table => indirect jumps */
static u8 prog[256];
NI static u32 k_vm(void){ u32 r[4]={1,2,3,4}; u32 pc=0, n=6000; while(n--){ u8 op=prog[pc&255]; pc++; u32 d=(op>>3)&3, s=(op>>5)&3;
  switch(op&7){ case 0:r[d]+=r[s]+1;break; case 1:r[d]^=r[s]<<3;break; case 2:r[d]-=r[s];break; case 3:r[d]=(r[d]>>1)|(r[s]<<31);break;
    case 4:if(r[d]&1)pc+=3;break; case 5:r[d]*=r[s]|1;break; case 6:buf_b[r[d]&1023]=(u8)r[s];break; default:r[d]+=buf_b[r[s]&1023]; } } return r[0]^r[1]^r[2]^r[3]^pc; }
/* 8: division / gcd / 64-bit multiply */
NI static u32 gcd_(u32 a,u32 b){ while(b){ u32 t=a%b; a=b; b=t; } return a; }
NI static u32 k_div(void){ u32 h=0; for(int i=0;i<96;i++){ u32 a=rnd()|1,b=(rnd()>>8)|1; h+=gcd_(a,b)+a/b; h^=(u32)(((u64)a*b)>>32); h+=(u32)(((s32)a)/(s32)(b|3)); h^=(u32)((((int64_t)(s32)a)*(s32)b)>>32);} return h; }
/* 9: bit manipulation (Zbb/Zbs/Zba when enabled) */
NI static u32 k_bits(void){ u32 h=0; for(int i=0;i<1024;i++){ u32 x=arr[i]^h; h+=__builtin_popcount(x)+(x?__builtin_clz(x):32)+(x?__builtin_ctz(x):32); h^=(x<<7)|(x>>25); h+=__builtin_bswap32(x); u32 y=arr[(i*5)&4095]; h+= x<y?x:y; h^=((s32)x>(s32)y)?x:y; h|=1u<<(x&31); h&=~(1u<<(y&31)); h+=(x&~y); } return h; }
/* 10: memcpy aligned + misaligned-by-construction byte copies + compare + memset */
NI static u32 k_mem(void){ memcpy(buf_b,buf_a,4096); memcpy(buf_b+4096+1,buf_a+3,1500); memset(buf_b+8192,0x5a,2000); int c=mcmp(buf_b,buf_a,4096); return (u32)c+buf_b[4097]+buf_b[8200]+buf_b[5000]; }
/* 11: calls through function pointers + recursion (fib) + atomics */
NI static u32 fib(u32 n){ return n<2?n:fib(n-1)+fib(n-2); }
NI static u32 f0(u32 x){return x*3+1;} NI static u32 f1(u32 x){return x^(x>>3);} NI static u32 f2(u32 x){return x-77;} NI static u32 f3(u32 x){return (x<<1)|(x>>31);}
static u32 (*const ftab[4])(u32)={f0,f1,f2,f3};
NI static u32 k_call(void){ u32 x=seed; for(int i=0;i<800;i++){ x=ftab[x&3](x); __atomic_fetch_add(&atom,x,__ATOMIC_RELAXED);} 
  for(int i=0;i<100;i++){ u32 e=atom; __atomic_compare_exchange_n(&atom,&e,e+i,0,__ATOMIC_RELAXED,__ATOMIC_RELAXED);} return fib(14)+x+atom; }

static void hex(u32 v,char*o){ for(int i=7;i>=0;i--){ u32 d=(v>>(i*4))&15; *o++=(char)(d<10?'0'+d:'a'+d-10);} *o=0; }
int main(void){
  seed=0x12345678; for(u32 i=0;i<256;i++){u32 c=i; for(int j=0;j<8;j++) c=(c&1)?(c>>1)^0xEDB88320u:c>>1; crctab[i]=c;}
  for(u32 i=0;i<sizeof buf_a;i++) buf_a[i]=(u8)rnd(); for(int i=0;i<24*24;i++){ma[i]=rnd()&0xff;mb[i]=rnd()&0xff;} for(int i=0;i<256;i++) prog[i]=(u8)(rnd()>>11);
  u32 h=0;
  for(u32 r=0;r<REPS;r++){
    h=h*0x01000193u^k_crc(); h=h*0x01000193u^k_sort(); h=h*0x01000193u^k_mat(); h=h*0x01000193u^k_list(); h=h*0x01000193u^k_state(); h=h*0x01000193u^k_sieve();
    h=h*0x01000193u^k_vm(); h=h*0x01000193u^k_div(); h=h*0x01000193u^k_bits(); h=h*0x01000193u^k_mem(); h=h*0x01000193u^k_call();
    buf_a[r&16383]^=(u8)h;
  }
  char o[12];
  hex(h,o); plat_puts("CHECKSUM "); plat_puts(o); plat_puts("\nDONE\n");
  plat_exit(0); return 0;
}
