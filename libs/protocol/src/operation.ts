import { z } from 'zod';

/** What the worst call of an operation may do; approvals are asked by risk. */
export const risk = z.enum(['read', 'write', 'execute', 'network']);
export type Risk = z.infer<typeof risk>;

/** Who may call an operation: the model as a tool; through any door a person, or a viewer, who watches and does not touch. */
export type Audience = 'model' | 'person' | 'viewer';

/** Whom a token speaks for. */
export type Role = Exclude<Audience, 'model'>;

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
  const people =
    definition.risk === 'read' ? (['person', 'viewer'] as const) : (['person'] as const);
  return { audience: ['model', ...people], ...definition };
}

type Definitions = Record<string, Operation>;

/** One function for each operation of a group: a gap is a compile error. `C` is what a handler is told about its call. */
export type Handlers<D extends Definitions, C> = {
  [K in keyof D]: (input: z.output<D[K]['input']>, context: C) => Promise<z.input<D[K]['output']>>;
};

export type OperationInput<T extends Operation> = z.output<T['input']>;
export type OperationOutput<T extends Operation> = z.output<T['output']>;
