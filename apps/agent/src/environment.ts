import { z } from 'zod';

const environment = z
  .object({
    /** `unix:` and the path of the connection’s socket, or a `wss:` URL. */
    BELAY_CONNECTION: z
      .string({ error: 'is not set' })
      .regex(/^(unix:|wss?:)/, 'must begin with “unix:”, “wss:” or “ws:”'),
    BELAY_TOKEN: z.string().optional(),
    /** Who the programs of a sandbox run as, in one where the agent starts as root. */
    BELAY_USER: z.coerce.number().int().nonnegative().optional(),
    BELAY_WORKSPACE: z.string().default('/workspace'),
    BELAY_STATE: z.string().default('/var/lib/belay'),
    /** On a machine of its user, outside of any container: its programs are as they are, and so is its network. */
    BELAY_BARE: z.literal('1').optional(),
    /** On a bare machine: the file that whoever keeps the agent touches. */
    BELAY_RECORD: z.string().optional(),
    CHROMIUM: z.string().optional(),
    /** Cargo’s settings for the host’s registries. */
    BELAY_CARGO_CONFIG: z.string().optional(),
  })
  .transform((values) => ({
    connection: values.BELAY_CONNECTION,
    token: values.BELAY_TOKEN,
    user: values.BELAY_USER,
    workspace: values.BELAY_WORKSPACE,
    state: values.BELAY_STATE,
    bare: values.BELAY_BARE !== undefined,
    record: values.BELAY_RECORD,
    chromium: values.CHROMIUM,
    cargo: values.BELAY_CARGO_CONFIG,
  }));
export type AgentEnvironment = z.output<typeof environment> & {
  /** What the shells of the sandbox inherit. */
  shell: Record<string, string>;
};

/** Reads the agent’s settings; throws one sentence that names the variable that is wrong. */
export function readEnvironment(values: NodeJS.ProcessEnv = process.env): AgentEnvironment {
  const parsed = environment.safeParse(values);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(
      `${issue?.path.join('.')} ${issue?.message ?? 'is wrong'}; set it and start the agent again.`,
    );
  }
  const shell = Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string] =>
        // The token is the agent’s alone, and its own settings mean nothing to the programs that it runs.
        entry[1] !== undefined &&
        !entry[0].startsWith('BELAY_') &&
        entry[0] !== 'NODE_COMPILE_CACHE',
    ),
  );
  return { ...parsed.data, shell };
}
