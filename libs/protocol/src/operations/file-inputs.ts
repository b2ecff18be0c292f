import { z } from 'zod';

export const path = z.string().min(1).describe('Relative to the workspace.');

export const pathNames = { file: 'path', filename: 'path', filepath: 'path', absolutepath: 'path' };
export const folderNames = { ...pathNames, dir: 'path', directory: 'path', folder: 'path' };
export const rangeNames = {
  start: 'from',
  startline: 'from',
  linestart: 'from',
  end: 'to',
  endline: 'to',
  lineend: 'to',
};

export const aboutPath = {
  essential: true,
  aliases: pathNames,
  subject: (input: { path: string }) => input.path,
  subjectKind: 'path',
  paths: (input: { path: string }) => [input.path],
} as const;
