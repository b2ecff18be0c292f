import { z } from 'zod';
import type { FileNews } from './file-version.js';

/** The most dangerous thing that a call of an operation can do; it decides which calls need an approval. */
export const risk = z.enum(['read', 'write', 'execute', 'network']);
export type Risk = z.infer<typeof risk>;

/** Who may call an operation: the model, as a tool; through any API, the user or a viewer, who changes nothing. */
export type Audience = 'model' | 'user' | 'viewer';

/** The role of a token’s owner. */
export type Role = Exclude<Audience, 'model'>;

/** An optional service of a server that some operations need. */
export const serverService = z.enum(['search']);
export type ServerService = z.infer<typeof serverService>;

/** A setting of a session that offers operations which others do not need. */
export type OfferingSetting = 'report';

/**
 * How a call is shown: a shell command with its live output, other work in a terminal, a file that is read, an edit
 * with its lines, the browser’s page, a thought, a question, the end of the task. An `event` call is not shown,
 * because the event that it causes is; `plain` is everything else.
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

/** The kind of a call’s subject, which determines what a `*` in an allowing rule never matches. */
export type SubjectKind = 'command' | 'path' | 'address' | 'json';

/** The context of a call besides its input: the URL of the page that the browser shows. */
export interface SubjectContext {
  page: string | null;
}

/**
 * Properties of an operation’s calls besides its schemas; a definition states only those that differ from the default.
 * Functions get input and output as parsed by the schemas, and never throw.
 */
export interface OperationTraits<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** The text that approval rules match; it must name everything that the call will do. Default: ''. */
  subject(input: z.output<I>, context: SubjectContext): string;
  /** Default: `address`, in which a rule’s `*` matches the least. */
  readonly subjectKind: SubjectKind;
  /** The subject of a call, for people; may have several lines. Default: the subject. */
  summary(input: z.output<I>, context: SubjectContext): string;
  /** Default: `plain`. */
  readonly display: Display;
  /**
   * `loop`: the agent’s loop serves it, because it waits for the user or ends the work. `run`: the agent’s run of the
   * session serves it, because it is about the session as a whole. Default: `agent`.
   */
  readonly servedBy: 'agent' | 'loop' | 'run';
  /** Offered to a model only if the server has this service and the session has a network. Default: null. */
  readonly needs: ServerService | null;
  /** Offered only in sessions with this setting. Default: null. */
  readonly setting: OfferingSetting | null;
  /** Whether workspace files may have changed afterwards, so that a commit is needed. Default: all but reads. */
  readonly changesFiles: boolean;
  /** Whether the operation creates its commit itself. Default: false. */
  readonly commitsItself: boolean;
  /** Whether other calls of the same reply may run at the same time. Default: reads only. */
  readonly concurrent: boolean;
  /** Whether a user’s call is not logged, because it changes nothing. Default: reads. */
  quiet(input: z.output<I>): boolean;
  /** Whether a call waits for or polls something in progress, so that repeating it is not a loop. Default: no. */
  polls(input: z.output<I>): boolean;
  /** Whether a call achieves nothing by itself, like thoughts and plans. Default: false. */
  readonly idle: boolean;
  /** Whether the agent’s guidance may have changed afterwards. Default: false. */
  readonly changesGuidance: boolean;
  /** Whether it is on the short list for models that take few tools, such as custom GPTs. Default: false. */
  readonly essential: boolean;
  /** Whether it still applies after a rewind of the conversation to an earlier event. Default: false. */
  readonly outlivesRewind: boolean;
  /** Workspace paths in a call’s input and, given the output, those that it used. Default: none. */
  paths(input: z.output<I>, output?: z.output<O>): readonly string[];
  /** The text fields of the input that a user may change before allowing a model’s call. Default: none. */
  readonly editable: readonly string[];
  /** Blobs of the pictures to show to a model. Default: none. */
  images(output: z.output<O>): readonly string[];
  /**
   * The output as a model gets it, without what tells it nothing and in the form that takes the fewest tokens. Default:
   * null, all of it.
   */
  brief(output: z.output<O>): Readonly<Record<string, unknown>> | null;
  /** The output field whose lines a model reads with line numbers, and the first number. Default: null. */
  numbered(output: z.output<O>): { field: string; from: number } | null;
  /**
   * Input fields by other names that models use for them, in lowercase letters without `_` and `-`. They apply only to
   * models’ calls. Default: none.
   */
  readonly aliases: Readonly<Record<string, string>>;
  /**
   * Names of similar tools in other harnesses, in lowercase letters and digits, separated by spaces: a model that calls
   * one is told the name of this operation. Default: none.
   */
  readonly knownAs: string;
  /**
   * Its name on the plain WebSocket, in OpenDevin’s terms, in both directions. Default: only its own name.
   */
  readonly verb: string | null;
  /** Knowledge about whole files in an output: callers must not overwrite a file that they have not seen. Default: none. */
  files(output: z.output<O>): readonly FileNews[];
  /**
   * `found`: if there are many of these, a model is offered the `finder` instead. `opened`: a model is offered it only
   * once an output has named it. Default: null, always offered.
   */
  readonly search: 'finder' | 'found' | 'opened' | null;
  /** Operations named in an output: a model is offered them from then on. Default: none. */
  found(output: z.output<O>): readonly string[];
  /** What a user’s call did, for the model; null if the call itself describes that. Default: null. */
  told(output: z.output<O>): string | null;
}

export interface OperationDefinition<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
> extends OperationTraits<I, O> {
  /** A short label for people, such as “Run a command”. */
  readonly title: string;
  /** The documentation for a model that may call it. */
  readonly description: string;
  readonly risk: Risk;
  /** Default: the model and users; for reads also viewers. */
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

/** The required properties of a definition; all others have defaults. */
type StatedAlways = 'title' | 'description' | 'risk' | 'input' | 'output';
type Stated<I extends z.ZodType, O extends z.ZodType> = Pick<
  OperationDefinition<I, O>,
  StatedAlways
> &
  Partial<Omit<OperationDefinition<I, O>, StatedAlways | 'servedBy'>>;

/**
 * Defines an operation once; RPC, REST, the model’s tool and the documentation are projections of it, and code that treats
 * operations differently checks a trait. Its name is its key in `operationGroup`.
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
    setting: null,
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
    editable: [],
    images: () => [],
    brief: () => null,
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

/** One function for each operation of a group: a gap is a compile error. `C` is the context of a call. */
export type Handlers<D extends Definitions, C> = {
  [K in keyof D]: (input: z.output<D[K]['input']>, context: C) => Promise<z.input<D[K]['output']>>;
};
