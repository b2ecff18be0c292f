import type { ActionFile } from '../action-files.js';

export const actionFile = (
  path: string,
  content: string | object,
  executable = false,
): ActionFile => ({
  path,
  executable,
  content: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
});

/** A manifest with only the fields of RunGPT’s, plus `more`. */
export const shout = (more: object = {}) => ({
  schema_version: 'v1',
  name_for_human: 'Shout',
  name_for_model: 'shout',
  description_for_human: 'Says it in capitals.',
  description_for_model: 'Turns text into capitals.',
  ...more,
});

/** The files of an action that prints its arguments in capitals. */
export const actionFiles = (manifest: object = {}, folder = ''): ActionFile[] => [
  actionFile(`${folder}manifest.json`, shout(manifest)),
  actionFile(`${folder}run`, '#!/bin/sh\nprintf %s "$*" | tr a-z A-Z\n', true),
];
