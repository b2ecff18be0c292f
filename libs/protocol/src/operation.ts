import { z } from 'zod';
import type { FileNews } from './file-version.js';

/** What the worst call of an operation may do; approvals are asked by risk. */
export const risk = z.enum(['read', 'write', 'execute', 'network']);
export type Risk = z.infer<typeof risk>;

/** Who may call an operation: the model as a tool; through any API the user, or a viewer, who watches and does not touch. */
export type Audience = 'model' | 'user' | 'viewer';

/** Whom a token speaks for. */
export type Role = Exclude<Audience, 'model'>;

/** What a server may be set up with, and operations need of it. */
export const serverService = z.enum(['search']);
export type ServerService = z.infer<typeof serverService>;

/**
 * How a call is shown: a shell command with its output as it comes, other work in a terminal, a file that is looked at,
 * an edit with its lines, the browser’s page, a thought, a question, the end of the task. `event` is not shown itself,
 * as the event that it causes is; `plain` is everything else.
 */
export type Display =
  | 'command'
  | 'terminal'
  | 'file'
  | 'edit'
  | 'page'
  | 'thought'
  | 'question'
  | 'ending'
  | 'event'
  | 'action'
  | 'plain';

/** What the subject of a call is, and so what a `*` of an allowing rule never stands for in it. */
export type SubjectKind = 'command' | 'path' | 'address' | 'json';

/** What an operation is about besides its own input: the address of the page that the browser shows. */
export interface SubjectContext {
  page: string | null;
}

/**
 * What holds of an operation’s calls, beside its schemas; a definition states what differs from the default.
 * Functions take input and output as the schemas give them and never throw.
 */
export interface OperationTraits<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** What a call is about: what rules of approval match, so it must name what the call will do. Default: ''. */
  subject(input: z.output<I>, context: SubjectContext): string;
  /** Default: `address`, in which a rule’s `*` stands for the least. */
  readonly subjectKind: SubjectKind;
  /** What a call is about, for people; may have several lines. Default: the subject. */
  summary(input: z.output<I>, context: SubjectContext): string;
  /** Default: `plain`. */
  readonly display: Display;
  /**
   * `loop`: it waits for the user or ends the work, so the agent’s loop serves it itself. `run`: it is about the session
   * as the agent has it, so the run of that session does. Default: `agent`.
   */
  readonly servedBy: 'agent' | 'loop' | 'run';
  /** A model is offered it only where the server has this, and the session a network. Default: nothing. */
  readonly needs: ServerService | null;
  /** Whether files of the workspace may be others afterwards, and a commit is due. Default: all but reads. */
  readonly changesFiles: boolean;
  /** Whether it makes its commit itself. Default: false. */
  readonly commitsItself: boolean;
  /** Whether calls of one reply may run at the same time as this. Default: reads only. */
  readonly concurrent: boolean;
  /** Whether the user’s call stays out of the log, as it changes nothing. Default: reads. */
  quiet(input: z.output<I>): boolean;
  /** Whether a call waits for or polls something in progress: a repetition is then no loop. Default: no. */
  polls(input: z.output<I>): boolean;
  /** Whether a call gets nothing done by itself, as thoughts and plans. Default: false. */
  readonly idle: boolean;
  /** Whether other guidance of the workspace may be the agent’s afterwards. Default: false. */
  readonly changesGuidance: boolean;
  /** Whether it is on the short list for models that take few tools, such as custom GPTs. Default: false. */
  readonly essential: boolean;
  /** Whether it still counts after the conversation went back to before it. Default: false. */
  readonly outlivesRewind: boolean;
  /** Paths of the workspace that a call is about, and with its output those that it touched. Default: none. */
  paths(input: z.output<I>, output?: z.output<O>): readonly string[];
  /** Blobs of pictures that a model is shown. Default: none. */
  images(output: z.output<O>): readonly string[];
  /** The field of the output whose lines a model reads with their numbers, and the first one’s number. Default: none. */
  numbered(output: z.output<O>): { field: string; from: number } | null;
  /**
   * Fields of the input by other names that models know them by, in lowercase letters without `_` and `-`. Only models’
   * calls are read so. Default: none.
   */
  readonly aliases: Readonly<Record<string, string>>;
  /**
   * Names of tools that do this in other harnesses, in lowercase letters and digits, with a space between them: a model that
   * calls one is told this operation. Default: none.
   */
  readonly knownAs: string;
  /**
   * What the plain WebSocket calls it, in OpenDevin’s words: the verb of a call, both ways. Default: its name alone.
   */
  readonly verb: string | null;
  /** What an output tells of whole files: whoever has not seen a file as it is must not write over it. Default: nothing. */
  files(output: z.output<O>): readonly FileNews[];
  /**
   * `found`: where there are many of these, a model is not offered each, but the `finder`. Default: null, always offered.
   */
  readonly search: 'finder' | 'found' | null;
  /** Operations that an output makes known: a model is offered them from then on. Default: none. */
  found(output: z.output<O>): readonly string[];
  /** What a user’s call did, for the model; null where the call itself says it. Default: null. */
  told(output: z.output<O>): string | null;
}

export interface OperationDefinition<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> extends OperationTraits<I, O> {
  /** A short label for people, such as “Run a command”. */
  readonly title: string;
  /** What a model reads to decide and to call. */
  readonly description: string;
  readonly risk: Risk;
  /** Default: the model and people; viewers only for reads. */
  readonly audience: readonly Audience[];
  readonly input: I;
  readonly output: O;
}

export interface Operation<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> extends OperationDefinition<I, O> {
  readonly name: string;
}

/** What a definition has to say; all else has a default. */
type StatedAlways = 'title' | 'description' | 'risk' | 'input' | 'output';
type Stated<I extends z.ZodType, O extends z.ZodType> = Pick<
  OperationDefinition<I, O>,
  StatedAlways
> &
  Partial<Omit<OperationDefinition<I, O>, StatedAlways | 'servedBy'>>;

/**
 * Defines an operation once; RPC, REST, the model’s tool and the documentation are projections of it, and who treats
 * operations differently asks for a trait of it. Its name is its key in `operationGroup`.
 * (After tRPC’s procedure builder: one definition, many transports.)
 */
export function defineOperation<
  I extends z.ZodType,
  O extends z.ZodType,
  S extends 'agent' | 'loop' | 'run' = 'agent',
>(stated: Stated<I, O> & { servedBy?: S }): OperationDefinition<I, O> & { readonly servedBy: S } {
  const reads = stated.risk === 'read';
  const nothing = (): string => '';
  return {
    audience: reads ? ['model', 'user', 'viewer'] : ['model', 'user'],
    subject: nothing,
    subjectKind: 'address',
    summary: stated.subject ?? nothing,
    display: 'plain',
    needs: null,
    changesFiles: !reads,
    commitsItself: false,
    concurrent: reads,
    quiet: () => reads,
    polls: () => false,
    idle: false,
    changesGuidance: false,
    essential: false,
    outlivesRewind: false,
    paths: () => [],
    images: () => [],
    numbered: () => null,
    aliases: {},
    knownAs: '',
    verb: null,
    files: () => [],
    search: null,
    found: () => [],
    told: () => null,
    ...stated,
    servedBy: (stated.servedBy ?? 'agent') as S,
  };
}

type Named<D> = { readonly [K in keyof D]: D[K] & { readonly name: K } };

/** Operations by their names, which they get from their keys. */
export function operationGroup<D extends Record<string, OperationDefinition>>(
  definitions: D,
): Named<D> {
  const named = Object.entries(definitions).map(([name, one]) => [name, { ...one, name }]);
  return Object.fromEntries(named) as Named<D>;
}

type Definitions = Record<string, Operation>;

/** One function for each operation of a group: a gap is a compile error. `C` is what a handler is told about its call. */
export type Handlers<D extends Definitions, C> = {
  [K in keyof D]: (input: z.output<D[K]['input']>, context: C) => Promise<z.input<D[K]['output']>>;
};
