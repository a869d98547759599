/* ADC: single conversions, the temperature sensor, and round robin into the FIFO
 * at a fixed rate with DMA. GPIO26 sees a potentiometer, GPIO27 a waveform. */
#include "pico2.h"
#include "periph.h"

static uint16_t samples[200];

static uint32_t once(unsigned input)
{
	ADC_CS = ADC_EN | ADC_TEMP | input << 12 | ADC_ONCE;
	while (!(ADC_CS & ADC_READY))
		;
	return ADC_RESULT;
}

int main(void)
{
	PAD(26) = 1u << 7; /* analogue: no driver, no receiver, no pulls */
	PAD(27) = 1u << 7;
	ADC_CS = ADC_EN;
	while (!(ADC_CS & ADC_READY))
		;
	print("GPIO26 %u mV\n", once(0) * 3300 / 4096);
	uint32_t t = once(4) * 3300 / 4096; /* 706 mV at 27 degrees, 1.721 mV less a degree */
	print("sensor %u mV\n", t);
	sleep_ms(100);
	print("GPIO26 %u mV later\n", once(0) * 3300 / 4096);

	/* 100 pairs of the two inputs, 10 kHz each: 48 MHz / 2400. */
	ADC_DIV = 2399u << 8;
	ADC_FCS = 1 | 1 << 3 | 1u << 24; /* FIFO, DREQ at one sample */
	DMA_READ(0) = (uint32_t)(uintptr_t)&ADC_FIFO;
	DMA_WRITE(0) = (uint32_t)(uintptr_t)samples;
	DMA_COUNT(0) = 200;
	DMA_CTRL_TRIG(0) = DMA_EN | DMA_SIZE(1u) | DMA_INCR_WRITE | DMA_TREQ(DREQ_ADC);
	uint64_t start = time_us();
	ADC_CS = ADC_EN | 3u << 16 | ADC_MANY; /* round robin over inputs 0 and 1 */
	while (DMA_CTRL(0) & DMA_BUSY)
		;
	uint32_t took = (uint32_t)(time_us() - start);
	ADC_CS = ADC_EN;
	uint32_t least = 4096, most = 0;
	for (unsigned i = 1; i < 200; i += 2) {
		if (samples[i] < least)
			least = samples[i];
		if (samples[i] > most)
			most = samples[i];
	}
	print("200 samples in %u ms\n", (took + 500) / 1000);
	print("GPIO27 from %u to %u mV\n", least * 3300 / 4096, most * 3300 / 4096);
	return 0;
}
