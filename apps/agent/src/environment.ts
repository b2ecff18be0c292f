import { z } from 'zod';

const environment = z
  .object({
    /** `unix:` and the path of the rope's socket, or a `wss:` URL. */
    BELAY_ROPE: z
      .string({ error: 'is not set' })
      .regex(/^(unix:|wss?:)/, 'must begin with “unix:”, “wss:” or “ws:”'),
    BELAY_TOKEN: z.string().optional(),
    BELAY_WORKSPACE: z.string().default('/workspace'),
    BELAY_STATE: z.string().default('/var/lib/belay'),
    CHROMIUM: z.string().optional(),
    /** What cargo is told of the host's registries. */
    BELAY_CARGO_CONFIG: z.string().optional(),
  })
  .transform((values) => ({
    rope: values.BELAY_ROPE,
    token: values.BELAY_TOKEN,
    workspace: values.BELAY_WORKSPACE,
    state: values.BELAY_STATE,
    chromium: values.CHROMIUM,
    cargo: values.BELAY_CARGO_CONFIG,
  }));
export type Environment = z.output<typeof environment> & {
  /** What the shells of the sandbox inherit. */
  shell: Record<string, string>;
};

/** Reads the agent's settings; throws one sentence that names the variable that is wrong. */
export function readEnvironment(values: NodeJS.ProcessEnv = process.env): Environment {
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
        // The token is the agent's alone, and its own settings mean nothing to the programs that it runs.
        entry[1] !== undefined &&
        !entry[0].startsWith('BELAY_') &&
        entry[0] !== 'NODE_COMPILE_CACHE',
    ),
  );
  return { ...parsed.data, shell };
}
