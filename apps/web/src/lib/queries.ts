import { queryOptions } from '@tanstack/react-query';
import { client } from '@/lib/server';

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () => client.models.list(),
});

export const providersQuery = queryOptions({
  queryKey: ['providers'],
  queryFn: () => client.models.providers(),
});

export const settingsQuery = queryOptions({
  queryKey: ['settings'],
  queryFn: () => client.settings.read(),
});

export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: () => client.templates.list(),
});

export const mcpQuery = queryOptions({
  queryKey: ['mcp'],
  queryFn: () => client.mcp.list(),
});

export const agentsQuery = queryOptions({
  queryKey: ['agents'],
  queryFn: () => client.agents.list(),
});

export const gitHostsQuery = queryOptions({
  queryKey: ['git-hosts'],
  queryFn: () => client.git.hosts(),
});

export const machinesQuery = queryOptions({
  queryKey: ['machines'],
  queryFn: () => client.machines.list(),
});

export const ownSandboxesQuery = queryOptions({
  queryKey: ['own-sandboxes'],
  queryFn: () => client.machines.own(),
});

export const examplesQuery = queryOptions({
  queryKey: ['examples'],
  queryFn: () => client.server.examples(),
});

export const actionsQuery = queryOptions({
  queryKey: ['actions'],
  queryFn: () => client.actions.list(),
});
