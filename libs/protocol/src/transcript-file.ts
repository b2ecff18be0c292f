import { z } from 'zod';

/** The largest transcript, in characters. */
export const maxTranscriptLength = 64 * 2 ** 20;

/** A path below the folder of a program’s settings, without `.` and `..`. */
const pathBelow = z
  .string()
  .max(1_000)
  .regex(/^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.-]+(?:\/[\w.-]+)*$/);

/** The folder that a conversation is about; programs find their conversations by it. */
export const transcriptFolder = z
  .string()
  .max(200)
  .regex(/^\//, 'an absolute path')
  .describe('The absolute path of the folder in which the agent is to continue.');

/** A conversation as a file of an agent’s program. */
export const transcriptFile = z.object({
  id: z.uuid().describe('The id by which the program resumes it.'),
  path: pathBelow.describe('Where the program looks for it, below the folder of its settings.'),
  text: z.string(),
});
export type TranscriptFile = z.infer<typeof transcriptFile>;

/** Where an agent keeps its conversations on a user’s machine. */
export const transcriptPlace = z.object({
  variable: z
    .string()
    .regex(/^[A-Z_]{1,100}$/)
    .describe('The environment variable that names the folder of its settings.'),
  folder: pathBelow.describe('That folder in the home folder, if the variable is not set.'),
  below: pathBelow.describe('The folder in it that contains the transcripts.'),
  resume: z.string().max(200).describe('The command that resumes one, before its id.'),
});
