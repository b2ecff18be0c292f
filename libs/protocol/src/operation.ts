import { z } from 'zod';

/** What the worst call of an operation may do; approvals are asked by risk. */
export const risk = z.enum(['read', 'write', 'execute', 'network']);
export type Risk = z.infer<typeof risk>;

/** Who may call an operation: the model as a tool, a person through any door, or both. */
export type Audience = 'model' | 'person';

export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** A short label for people, such as “Run a command”. */
  readonly title: string;
  /** What a model reads to decide and to call. */
  readonly description: string;
  readonly risk: Risk;
  readonly audience: readonly Audience[];
  readonly input: I;
  readonly output: O;
}

/**
 * Defines an operation once; RPC, REST, the model's tool and the documentation are projections of it.
 * (After tRPC's procedure builder: one definition, many transports.)
 */
export function defineOperation<I extends z.ZodType, O extends z.ZodType>(
  definition: Omit<Operation<I, O>, 'audience'> & { audience?: readonly Audience[] },
): Operation<I, O> {
  return { audience: ['model', 'person'], ...definition };
}

type Definitions = Record<string, Operation>;

/** One function for each operation of a group: a gap is a compile error. `C` is what a handler is told about its call. */
export type Handlers<D extends Definitions, C> = {
  [K in keyof D]: (input: z.output<D[K]['input']>, context: C) => Promise<z.input<D[K]['output']>>;
};

export type OperationInput<T extends Operation> = z.output<T['input']>;
export type OperationOutput<T extends Operation> = z.output<T['output']>;
