import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { ModelReply, OperationCall } from '@belay/protocol';
import { ModelFailure, type GenerateOptions, type ModelOutput } from '../model.js';
import { brokenOff } from './failures.js';
import type { OpaqueReply } from './assistant-parts.js';

interface Segment {
  type: 'text' | 'reasoning';
  text: string;
  metadata?: SharedV4ProviderMetadata;
}
interface CallPart {
  type: 'call';
  id: string;
  operation: string;
  /** As the model wrote it; not necessarily JSON. */
  input: string;
  metadata?: SharedV4ProviderMetadata;
}

/** Assembles a reply from the parts of its stream. */
export class ReplyBuilder {
  readonly #parts: (Segment | CallPart)[] = [];
  readonly #open = new Map<string, Segment>();
  #finish: { reason: LanguageModelV4FinishReason; usage: LanguageModelV4Usage } | undefined;

  constructor(
    private readonly provider: string,
    private readonly operationOf: (toolName: string) => string,
    private readonly delta: GenerateOptions['delta'],
  ) {}

  /** Throws the error of an `error` part. */
  add(part: LanguageModelV4StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        this.#extend('text', part);
        return;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#extend('reasoning', part);
        return;
      case 'tool-call':
        this.#parts.push({
          type: 'call',
          id: part.toolCallId,
          operation: this.operationOf(part.toolName),
          input: part.input,
          ...(part.providerMetadata && { metadata: part.providerMetadata }),
        });
        return;
      case 'finish':
        this.#finish = { reason: part.finishReason, usage: part.usage };
        return;
      case 'error':
        throw part.error;
      default:
    }
  }

  /** Throws `ModelFailure` for an incomplete reply: its stream ended early, or with a failure. */
  build(): Omit<ModelOutput, 'contextTokens'> {
    if (!this.#finish) throw new ModelFailure('retry', brokenOff(this.provider));
    const { reason, usage } = this.#finish;
    const failure = failedEnd(reason, this.provider);
    if (failure) throw failure;
    const last = this.#parts.at(-1);
    const calls = this.#parts.flatMap((part) =>
      part.type === 'call' ? [readCall(part, reason.unified === 'length' && part === last)] : [],
    );
    const reasoning = this.#textOf('reasoning');
    const opaque = this.#opaque();
    return {
      text: this.#textOf('text'),
      ...(reasoning && { reasoning }),
      calls,
      finish: finishOf(reason, calls.length),
      usage: tokens(usage),
      ...(opaque && { opaque }),
    };
  }

  #extend(
    type: Segment['type'],
    part: { id: string; delta?: string; providerMetadata?: SharedV4ProviderMetadata },
  ): void {
    const key = `${type} ${part.id}`;
    let segment = this.#open.get(key);
    if (!segment) {
      segment = { type, text: '' };
      this.#open.set(key, segment);
      this.#parts.push(segment);
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

  #textOf(type: Segment['type']): string {
    return this.#parts.map((part) => (part.type === type ? part.text : '')).join('');
  }

  /** Includes reasoning without signatures, because some models need the reasoning that led to a call. */
  #opaque(): OpaqueReply | undefined {
    const types = new Set(this.#parts.map(({ type }) => type));
    const reasoned = types.has('reasoning') && types.has('call');
    if (!reasoned && !this.#parts.some((part) => part.metadata)) return undefined;
    const parts = this.#parts.map((part) => ({
      ...(part.type === 'call'
        ? { type: part.type }
        : { type: part.type, length: part.text.length }),
      ...(part.metadata && { metadata: part.metadata }),
    }));
    return { provider: this.provider, parts };
  }
}

/** `isCut`: the reply reached its length limit in this call, or directly after it. */
function readCall({ id, operation, input }: CallPart, isCut: boolean): OperationCall {
  const known = { id, operation };
  // The SDK makes an empty object of an input that had not begun, and `finish` takes that for a success.
  if (isCut && /^\s*(\{\})?\s*$/.test(input)) return { ...known, input, invalid: cutCall };
  if (input.trim() === '') return { ...known, input: {} };
  try {
    return { ...known, input: JSON.parse(input) as unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const bad = `The input is not valid JSON: ${reason}. Call again with valid JSON.`;
    return { ...known, input, invalid: isCut ? cutCall : bad };
  }
}

const cutCall =
  'The reply reached its length limit in the middle of this call. Do it in several smaller calls.';

/** Finish reasons that are failures, as reported by the SDK or the provider. */
function failedEnd(
  { unified, raw }: LanguageModelV4FinishReason,
  provider: string,
): ModelFailure | undefined {
  if (raw === 'model_context_window_exceeded') {
    return new ModelFailure('overflow', 'The reply filled the model’s context window.');
  }
  if (raw === malformedCall) return undefined;
  if (unified !== 'interrupted' && unified !== 'error') return undefined;
  return new ModelFailure('retry', brokenOff(provider));
}

/** Google’s reason for a reply without the call that the model meant. */
const malformedCall = 'MALFORMED_FUNCTION_CALL';

function finishOf(reason: LanguageModelV4FinishReason, calls: number): ModelReply['finish'] {
  if (reason.raw === malformedCall) return 'malformed';
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
