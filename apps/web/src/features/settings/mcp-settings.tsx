import { useState } from 'react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { McpServer } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Empty } from '@/components/ui/empty';
import { QueryState } from '@/components/ui/query-state';
import { mcpQuery } from '@/lib/queries';
import { useReadOnlySettings } from '@/lib/role';
import { McpForm } from './mcp-form';
import { McpServerCard } from './mcp-server-card';

/** The MCP servers whose tools agents may use. Their secrets are stored only on the server. */
export function McpSettings() {
  const readOnly = useReadOnlySettings();
  const queries = useQueryClient();
  const servers = useQuery({ ...mcpQuery, refetchInterval: 5_000 });
  const [adding, setAdding] = useState(false);
  const put = (name: string, changed: McpServer | null) =>
    queries.setQueryData(mcpQuery.queryKey, (known = []) => {
      const others = known.filter((one) => one.name !== name);
      if (!changed) return others;
      const place = known.findIndex((one) => one.name === name);
      return place < 0 ? [...known, changed] : known.with(place, changed);
    });
  return (
    <div className="space-y-4">
      <p className="text-sm text-muted">
        The Belay server connects to MCP servers and keeps their secrets; a sandbox gets neither.
        New sessions get the tools of all enabled servers unless you choose; a session keeps the
        tools it started with. You’re asked about each call, as you are about connections, unless
        the session runs calls at once or a rule allows it.
      </p>
      <QueryState query={servers} what="the MCP servers" />
      {servers.data?.length === 0 && !adding && (
        <Empty title="No MCP servers">
          Connect one to give agents more tools: an issue tracker, a database, a search.
        </Empty>
      )}
      {servers.data?.map((server) => (
        <McpServerCard
          key={server.name}
          server={server}
          onChange={(changed) => put(server.name, changed)}
        />
      ))}
      {adding && (
        <McpForm
          server={null}
          onCancel={() => setAdding(false)}
          onSaved={(server) => {
            setAdding(false);
            put(server.name, server);
          }}
        />
      )}
      {!readOnly && !adding && <Button onClick={() => setAdding(true)}>Add MCP server</Button>}
    </div>
  );
}
