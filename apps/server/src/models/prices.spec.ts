import { dollarsOf, priceOf } from './prices.js';

describe('prices', () => {
  it('finds a model by its name, with or without a date, and never a similar one', () => {
    expect(priceOf('anthropic', 'claude-sonnet-4-5-20250929')).toBe(
      priceOf('anthropic', 'claude-sonnet-4-5'),
    );
    expect(priceOf('openai', 'gpt-5-2025-08-07')?.input).toBe(1.25);
    expect(priceOf('openai', 'gpt-5-mini')?.input).toBe(0.25);
    expect(priceOf('openai', 'gpt-5-turbo')).toBeNull();
    expect(priceOf('openai', 'constructor')).toBeNull();
    expect(priceOf('openai-compatible', 'gpt-5')).toBeNull();
  });

  it('counts each kind of token at its price, and long prompts at theirs', () => {
    const price = priceOf('google', 'gemini-2.5-pro');
    const usage = { input: 100_000, cached: 50_000, cacheWrite: 0, output: 1_000 };
    expect(dollarsOf(price, usage)).toBeCloseTo(0.0625 + 0.00625 + 0.01, 10);
    const long = { input: 400_000, cached: 0, cacheWrite: 0, output: 1_000 };
    expect(dollarsOf(price, long)).toBeCloseTo(1 + 0.015, 10);
    expect(dollarsOf(null, usage)).toBeNull();
    expect(dollarsOf(null, { ...usage, dollars: 0 })).toBe(0);
  });
});
