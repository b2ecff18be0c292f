import { nearest } from './nearest';

const models = ['openai:gpt-5', 'openai:gpt-5-mini', 'ollama:helper', 'anthropic:claude-opus-5-5'];

it.each([
  ['helper', 'ollama:helper'],
  ['gpt-5', 'openai:gpt-5'],
  ['olama:helper', 'ollama:helper'],
  ['OpenAI:GPT5', 'openai:gpt-5'],
  ['something else', undefined],
])('%s means %s', (text, meant) => {
  expect(nearest(text, models)).toBe(meant);
});
