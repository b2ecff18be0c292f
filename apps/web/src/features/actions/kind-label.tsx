import type { ActionKind } from '@belay/protocol';

const words = { action: '', skill: 'skill', mcp: 'MCP server' };

/** Labels skills and MCP servers, to tell them from plain actions. */
export function KindLabel({ kind }: { kind: ActionKind }) {
  if (kind === 'action') return null;
  return <span className="ml-2 font-sans text-xs font-normal text-faint">{words[kind]}</span>;
}
