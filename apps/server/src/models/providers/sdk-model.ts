import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ModelTool } from '@belay/protocol';
import type { Model } from '../model.js';
import { offeredTool } from '../offered-tool.js';
import type { ProviderOptions } from '../model-name.js';
import { failureOf } from './failures.js';
import { toPrompt } from './prompt.js';
import { ReplyBuilder } from './reply.js';
import type { SdkProvider } from './sdk-provider.js';

/** A provider of the AI SDK as a model. Tries once: retries are the gateway's. */
export function sdkModel(
  provider: SdkProvider,
  settings: { contextTokens: number | null; options: ProviderOptions; secret?: string | undefined },
): Model {
  return {
    async generate(request, call) {
      const tools = request.operations.map((operation) => offeredTool(operation, call));
      const names = new Map(tools.map((tool, index) => [tool.name, request.operations[index]]));
      try {
        const { stream } = await provider.model.doStream({
          prompt: await toPrompt(request.messages, provider, call.blob),
          ...(tools.length > 0 && {
            tools: tools.map(functionTool),
            ...(request.purpose === 'compact' && { toolChoice: { type: 'none' } }),
          }),
          ...(settings.options.reasoning && { reasoning: settings.options.reasoning }),
          ...(provider.options && { providerOptions: provider.options(call.session) }),
          abortSignal: call.signal,
        });
        const operationOf = (name: string): string => names.get(name) ?? name;
        const reply = new ReplyBuilder(provider.name, operationOf, call.delta);
        await read(stream, reply, call.signal);
        return { ...reply.build(), contextTokens: settings.contextTokens };
      } catch (error) {
        const { name, model } = provider;
        throw failureOf(error, { provider: name, model: model.modelId, secret: settings.secret });
      }
    },
  };
}

async function read(
  stream: ReadableStream<Parameters<ReplyBuilder['add']>[0]>,
  reply: ReplyBuilder,
  signal: AbortSignal,
): Promise<void> {
  for await (const part of stream) {
    signal.throwIfAborted();
    reply.add(part);
  }
}

const functionTool = (tool: ModelTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  inputSchema: tool.parameters,
});
