import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { ModelReply, OperationCall } from '@belay/protocol';
import { ModelFailure, type ModelCall, type ModelOutput } from '../model.js';
import type { OpaqueReply } from './opaque.js';

interface Segment {
  type: 'text' | 'reasoning';
  text: string;
  metadata?: SharedV4ProviderMetadata;
}
interface CallPart {
  type: 'call';
  call: OperationCall;
  metadata?: SharedV4ProviderMetadata;
}

/** Puts a reply together from the parts of its stream. */
export class ReplyBuilder {
  private readonly parts: (Segment | CallPart)[] = [];
  private readonly open = new Map<string, Segment>();
  private finish: { reason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage } | undefined;

  constructor(
    private readonly provider: string,
    private readonly operationOf: (toolName: string) => string,
    private readonly delta: ModelCall['delta'],
  ) {}

  /** Throws what an `error` part carries. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.extend('text', part);
        return;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.extend('reasoning', part);
        return;
      case 'tool-call':
        this.parts.push({
          type: 'call',
          call: this.readCall(part),
          ...(part.providerMetadata && { metadata: part.providerMetadata }),
        });
        return;
      case 'finish':
        this.finish = { reason: part.finishReason, usage: part.usage };
        return;
      case 'error':
        throw part.error;
      default:
    }
  }

  /** Throws `ModelFailure` when the stream ended before its end was said. */
  build(): Omit<ModelOutput, 'contextTokens'> {
    const reason = this.finish?.reason.unified;
    if (!this.finish || reason === 'interrupted' || reason === 'error') {
      throw new ModelFailure('retry', `The reply of ${this.provider} broke off in the middle.`);
    }
    const calls = this.parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
    const reasoning = this.textOf('reasoning');
    const opaque = this.opaque();
    return {
      text: this.textOf('text'),
      ...(reasoning && { reasoning }),
      calls,
      finish: finishOf(this.finish.reason, calls.length),
      usage: tokens(this.finish.usage),
      ...(opaque && { opaque }),
    };
  }

  private extend(
    type: Segment['type'],
    part: { id: string; delta?: string; providerMetadata?: SharedV4ProviderMetadata },
  ): void {
    const key = `${type} ${part.id}`;
    let segment = this.open.get(key);
    if (!segment) {
      segment = { type, text: '' };
      this.open.set(key, segment);
      this.parts.push(segment);
    }
    for (const [name, known] of Object.entries(part.providerMetadata ?? {})) {
      segment.metadata = {
        ...segment.metadata,
        [name]: { ...segment.metadata?.[name], ...known },
      };
    }
    if (!part.delta) return;
    segment.text += part.delta;
    this.delta(type, part.delta);
  }

  private readCall(part: LanguageModelV4ToolCall): OperationCall {
    const known = { id: part.toolCallId, operation: this.operationOf(part.toolName) };
    if (part.input.trim() === '') return { ...known, input: {} };
    try {
      return { ...known, input: JSON.parse(part.input) as unknown };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { ...known, input: part.input, invalid: `The input is not valid JSON: ${reason}.` };
    }
  }

  private textOf(type: Segment['type']): string {
    return this.parts.map((part) => (part.type === type ? part.text : '')).join('');
  }

  /** Also without signatures: some models want the reasoning back that led to a call. */
  private opaque(): OpaqueReply | undefined {
    const types = new Set(this.parts.map(({ type }) => type));
    const reasoned = types.has('reasoning') && types.has('call');
    if (!reasoned && !this.parts.some((part) => part.metadata)) return undefined;
    const parts = this.parts.map((part) => ({
      ...(part.type === 'call'
        ? { type: part.type }
        : { type: part.type, length: part.text.length }),
      ...(part.metadata && { metadata: part.metadata }),
    }));
    return { provider: this.provider, parts };
  }
}

function finishOf(reason: LanguageModelV4FinishReason, calls: number): ModelReply['finish'] {
  if (reason.unified === 'length') return 'length';
  if (reason.unified === 'content-filter') return 'filter';
  if (calls > 0) return 'calls';
  return reason.unified === 'stop' ? 'stop' : 'other';
}

const tokens = ({ inputTokens, outputTokens }: LanguageModelV4Usage) => ({
  input: inputTokens.total ?? 0,
  cached: inputTokens.cacheRead ?? 0,
  cacheWrite: inputTokens.cacheWrite ?? 0,
  output: outputTokens.total ?? 0,
});
