import { operations, type OperationName, type OperationRequest } from '@belay/protocol';
import type { z } from 'zod';

const commit = 'abcdef0';
const time = '2026-01-01T00:00:00.000Z';

/** Sample results of operations of every group. */
export const operationResults: {
  [N in OperationName]?: z.input<(typeof operations)[N]['output']>;
} = {
  'terminal.run': {
    text: 'ä\nb\n',
    omittedBytes: 0,
    from: 0,
    to: 5,
    terminal: 'main',
    status: 'exited',
    exitCode: 3,
    seconds: 0.1,
    directory: '/workspace',
  },
  'terminal.list': { terminals: [] },
  'files.read': {
    path: 'a',
    content: 'one\ntwo\n',
    from: 2,
    to: 3,
    lines: 3,
    size: 12,
    next: null,
    version: null,
  },
  'files.write': { path: 'a', size: 3, lines: 1, version: null, created: true },
  'files.list': {
    entries: [
      { path: 'a', kind: 'file', size: 3 },
      { path: 'b', kind: 'folder', size: 0 },
    ],
    untraversed: [],
  },
  'system.time': { time, zone: 'UTC' },
  'system.info': {
    os: 'Linux',
    architecture: 'x64',
    cpus: 2,
    memoryBytes: 2,
    memoryUsedBytes: 1,
    diskFreeBytes: 1,
    user: 'agent',
    workspace: '/workspace',
    tools: { git: '/usr/bin/git' },
  },
  'workspace.log': { steps: [{ commit, time, call: 'c', message: 'Wrote a' }] },
  'workspace.diff': { diff: '--- a/a\n+++ b/a\n', truncated: false, files: [] },
  'workspace.show': { content: 'ü\n', encoding: 'utf8' },
  'workspace.rewind': { files: [], commit: null },
  'workspace.undo': { files: [], commit: null, undone: { commit, time, message: 'Wrote a' } },
  'session.prompt': { parts: [], tokens: 0 },
};

/** Sample inputs of operations that require some. */
export const operationSamples: { [N in OperationName]?: OperationRequest<N> } = {
  'terminal.run': { command: 'ls', until: { port: 80 } },
  'files.read': { path: 'a', from: 2 },
  'files.write': { path: 'a', content: 'ü\n', version: null },
  'files.edit': { path: 'a', change: 'INSERT', from: 1, content: ['x'] },
  'files.replace-text': { path: 'a', find: 'x', replace: 'y' },
  'files.patch': { patch: '--- a/x\n+++ b/x\n' },
  'files.move': { from: 'a', to: 'b' },
  'files.remove': { path: 'a' },
  'files.mkdir': { path: 'a' },
  'browser.open': { url: 'http://localhost:1/' },
  'browser.drag': { from: { element: 'e1' }, to: { x: 1, y: 2 } },
  'browser.type': { text: 'x' },
  'browser.select': { element: 'e1', options: ['x'] },
  'browser.upload': { element: 'e1', paths: ['a'] },
  'browser.evaluate': { script: '1' },
  'browser.resize': { width: 300, height: 300 },
  'web.fetch': { url: 'http://localhost/' },
  'web.search': { query: 'x' },
  report: { summary: 'It works.' },
  'workspace.show': { commit, path: 'a' },
  'workspace.rewind': { commit },
  'workspace.undo': { commit },
  'actions.search': { query: 'x' },
};
