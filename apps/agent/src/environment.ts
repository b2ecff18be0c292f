import { readFileSync } from 'node:fs';
import { z } from 'zod';

const environment = z
  .object({
    /** `unix:` with the path of the connection’s socket, or a `wss:` URL. */
    BELAY_CONNECTION: z
      .string({ error: 'is not set' })
      .regex(/^(unix:|wss?:)/, 'must begin with “unix:”, “wss:” or “ws:”'),
    BELAY_TOKEN: z.string().optional(),
    /** A file with the token, which programs cannot read. */
    BELAY_TOKEN_FILE: z.string().optional(),
    /** A file with the only certificate authority that a `wss:` server is trusted by, as PEM. */
    BELAY_CA_FILE: z.string().optional(),
    /** The user that programs run as, in a sandbox whose agent starts as root. */
    BELAY_USER: z.coerce.number().int().nonnegative().optional(),
    BELAY_WORKSPACE: z.string().default('/workspace'),
    BELAY_STATE: z.string().default('/var/lib/belay'),
    /** Set on a user’s own machine, outside of containers: programs and network are those of the machine. */
    BELAY_BARE: z.literal('1').optional(),
    /** On a bare machine: the file that the agent’s supervisor touches. */
    BELAY_RECORD: z.string().optional(),
    /** In a build whose host is sent what it has written: JSON with the layers that are unpacked at first. */
    BELAY_BUILD: z.string().optional(),
    CHROMIUM: z.string().optional(),
    /** A named pipe: whoever writes to it starts the browser beside this container. */
    BELAY_BROWSER: z.string().optional(),
    /** Cargo’s settings for the host’s registries. */
    BELAY_CARGO_CONFIG: z.string().optional(),
  })
  .transform((values) => ({
    connection: values.BELAY_CONNECTION,
    token: values.BELAY_TOKEN ?? contentOf('token', values, 'BELAY_TOKEN_FILE'),
    authority: contentOf('certificate authority', values, 'BELAY_CA_FILE'),
    user: values.BELAY_USER,
    workspace: values.BELAY_WORKSPACE,
    state: values.BELAY_STATE,
    bare: values.BELAY_BARE !== undefined,
    record: values.BELAY_RECORD,
    build: values.BELAY_BUILD,
    chromium: values.CHROMIUM,
    browser: values.BELAY_BROWSER,
    cargo: values.BELAY_CARGO_CONFIG,
  }));

/** Throws one sentence for a file that cannot be read. */
function contentOf<K extends string>(
  what: string,
  values: { [key in K]?: string | undefined },
  variable: K,
): string | undefined {
  const file = values[variable];
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(
      `The ${what} in ${variable} cannot be read: ${error instanceof Error ? error.message : String(error)}.`,
    );
  }
}

export type AgentEnvironment = z.output<typeof environment> & {
  /** Variables that the sandbox’s shells inherit. */
  shell: Record<string, string>;
};

/** Reads the agent’s settings; throws one sentence that names an invalid variable. */
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
        // Only the agent may see the token, and its own settings mean nothing to the programs that it runs.
        entry[1] !== undefined &&
        !entry[0].startsWith('BELAY_') &&
        entry[0] !== 'NODE_COMPILE_CACHE',
    ),
  );
  return { ...parsed.data, shell };
}
