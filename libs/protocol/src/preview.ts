import { z } from 'zod';

/** A TCP port of a sandbox. */
export const previewPort = z.int().min(1).max(65_535);

/** The maximum number of ports in a list; programs can listen on thousands. */
export const maxListedPorts = 100;

/** An address on the preview’s own origin: a path with its query, never another host. */
export const previewPath = z
  .string()
  .max(2_000)
  .regex(
    /^\/(?![/\\])[\x21-\x7e]*$/,
    'begin with one slash, and encode spaces and other special characters',
  );

export const previewRequest = z.object({
  port: previewPort.describe('The port that a program in the sandbox listens on.'),
  path: previewPath.default('/').describe('The path to open first.'),
});

export const openedPreview = z.object({
  url: z.url().describe('Opens the preview once, in one browser, within a minute.'),
  origin: z.url().describe('The origin of this session’s port, which nothing else shares.'),
});
export type OpenedPreview = z.infer<typeof openedPreview>;
