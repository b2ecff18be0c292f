import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { operationNamed, withToolNames, type ModelTool } from '@belay/protocol';
import type { Model } from '../model.js';
import { offeredTool } from '../offered-tool.js';
import type { ProviderOptions } from '../model-name.js';
import { failureOf } from './failures.js';
import { withOfferedNames } from './offered-names.js';
import { ReplyBuilder } from './reply.js';
import type { SdkProvider } from './sdk-provider.js';
import type { PromptWriter } from './prompt-writer.js';
import { refusesPictures, withoutPictures } from './without-pictures.js';

/** Uses a provider of the AI SDK as a model. It tries once: the gateway handles retries. */
export function sdkModel(
  { provider, writer }: { provider: SdkProvider; writer: PromptWriter },
  settings: {
    /** Never rejects. */
    contextTokens: () => Promise<number | null>;
    options: ProviderOptions;
    secret?: string | undefined;
  },
): Model {
  /**
   * Sessions whose pictures were refused; tracked separately, because pictures of one session must not affect others.
   */
  const blind = new Set<string>();
  const model: Model = {
    async generate(request, call) {
      const isBlind = blind.has(call.session);
      const tools = request.operations.map((operation) =>
        withOwnNames(operation, offeredTool(operation, call)),
      );
      const names = new Map(tools.map((tool, index) => [tool.name, request.operations[index]]));
      const seen = isBlind ? withoutPictures(request.messages) : request.messages;
      const messages = tools.length > 0 ? seen.map(withOfferedNames) : seen;
      // Its server may be asked for it, which the reply must not wait for.
      const contextTokens = settings.contextTokens();
      try {
        const options = {
          ...(tools.length > 0 && {
            tools: tools.map(functionTool),
            ...(request.purpose === 'compact' && { toolChoice: { type: 'none' as const } }),
          }),
          ...(settings.options.reasoning && { reasoning: settings.options.reasoning }),
          ...(provider.options && { providerOptions: provider.options(call.session) }),
          abortSignal: call.signal,
        };
        const { stream } = await writer.send({ provider, messages, blob: call.blob }, (prompt) =>
          provider.model.doStream({ prompt, ...options }),
        );
        const operationOf = (name: string): string => names.get(name) ?? name;
        const reply = new ReplyBuilder(provider.name, operationOf, call.delta);
        await read(stream, reply, call.signal);
        return { ...reply.build(), contextTokens: await contextTokens };
      } catch (error) {
        const { name, model: called } = provider;
        const at = { provider: name, model: called.modelId, secret: settings.secret };
        const failure = failureOf(error, at);
        // No list tells whether a model supports pictures; only its provider does.
        if (isBlind || !refusesPictures(failure.message, request.messages)) throw failure;
        blind.add(call.session);
        return model.generate(request, call);
      }
    },
  };
  return model;
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

/** The platform's descriptions use operation names; those of MCP servers stay unchanged. */
const withOwnNames = (operation: string, tool: ModelTool): ModelTool =>
  operationNamed(operation) ? { ...tool, description: withToolNames(tool.description) } : tool;

const functionTool = (tool: ModelTool): LanguageModelV4FunctionTool => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  inputSchema: tool.parameters,
});
