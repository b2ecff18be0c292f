import { z } from 'zod';

const hostPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const host = `(?:${hostPart}(?:\\.${hostPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]{1,5})?`;
const pathPart = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const tag = ':[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}';
const digest = '@[A-Za-z][A-Za-z0-9]*(?:[._+-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,128}';

/** The name of a container image, by the grammar of the distribution project (`docker.io/library/node:24@sha256:…`). */
export const imageReference = z
  .string()
  .trim()
  .max(500)
  .regex(
    new RegExp(`^(?:${host}/)?${pathPart}(?:/${pathPart})*(?:${tag})?(?:${digest})?$`),
    'not the name of an image: write NAME:TAG or HOST/NAME:TAG, such as node:24',
  );

/** The image of a new session. */
export const newImage = imageReference
  .nullable()
  .default(null)
  .describe(
    'A Docker image; null for the default. One that the machine does not have is pulled, from a public registry.',
  );
