import { z } from 'zod';

/** The media type of a record of Agent Trace (https://agent-trace.dev), and the version of its form. */
export const agentTraceMediaType = 'application/vnd.agent-trace.record+json';
const agentTraceVersion = '0.1.0';

const line = z.int().positive();

/** Who wrote lines. `unknown` is what no step of the session’s history says. */
export const traceContributor = z.strictObject({
  type: z.enum(['ai', 'human', 'mixed', 'unknown']),
  model_id: z.string().max(250).optional().describe('`provider/model`, of `ai` and `mixed`.'),
});
export type TraceContributor = z.infer<typeof traceContributor>;

/** The longest list of files that a trace leaves out; their number stands beside it. */
export const mostLeftOut = 100;

/** A trace before its commit exists. The statement about the commit has the digest of this in canonical JSON. */
export const agentTraceContent = z.strictObject({
  version: z.literal(agentTraceVersion),
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  tool: z.strictObject({ name: z.literal('belay'), version: z.string() }),
  files: z.array(
    z.strictObject({
      path: z.string(),
      conversations: z.array(
        z.strictObject({
          url: z.string().optional().describe('The session; missing without a public address.'),
          contributor: traceContributor,
          ranges: z.array(z.strictObject({ start_line: line, end_line: line })),
        }),
      ),
    }),
  ),
  metadata: z.strictObject({
    'io.belay': z.strictObject({
      attribution: z
        .enum(['session', 'steps', 'unknown'])
        .describe(
          '`session`: one contributor made all steps; `steps`: by the commit of each step; `unknown`: the steps could not be read.',
        ),
      why: z.string().nullable().describe('Why the steps could not be read.'),
      left_out: z
        .array(z.strictObject({ path: z.string(), why: z.string() }))
        .max(mostLeftOut)
        .describe('Changed files without ranges.'),
      left_out_files: z.int().nonnegative(),
    }),
  }),
});
export type AgentTraceContent = z.infer<typeof agentTraceContent>;

/** Which lines of a published commit were added by whom. */
export const agentTrace = agentTraceContent.extend({
  vcs: z.strictObject({
    type: z.literal('git'),
    revision: z.string().regex(/^[0-9a-f]{40}$/, 'the whole id of a commit'),
  }),
});
export type AgentTrace = z.infer<typeof agentTrace>;
