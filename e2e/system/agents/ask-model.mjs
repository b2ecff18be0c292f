/** A user’s script: asks the model as often as its argument says, with an SDK of others. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

const { OPENAI_BASE_URL: baseURL, OPENAI_API_KEY: apiKey } = process.env;
const model = createOpenAICompatible({ name: 'belay', baseURL, apiKey }).languageModel('local');
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];
for (let count = 1; count <= Number(process.argv[2]); count++) {
  try {
    const { stream } = await model.doStream({ prompt });
    let text = '';
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta') text += part.delta;
    }
    console.log(count, text);
  } catch ({ statusCode, message }) {
    console.log(count, statusCode, message);
  }
}
