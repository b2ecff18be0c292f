import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { ownAgent } from '@belay/protocol';
import { Button } from '@/components/ui/button';
import { Dialog } from '@/components/ui/dialog';
import { Field, SelectField, TextArea } from '@/components/ui/field';
import { agentsQuery, modelsQuery } from '@/lib/queries';
import { usableAgents } from '@/lib/usable-agents';
import { useSubmit } from '@/lib/use-submit';
import { agentOf, fork, useForkRequest } from './fork-request';

/** Asks for the message, model and agent of a fork; all are optional. */
export function ForkDialog() {
  const request = useForkRequest((state) => state.request);
  if (!request) return null;
  const close = () => useForkRequest.setState({ request: null });
  return (
    <Dialog title={`Fork from event ${request.seq}`} onClose={close}>
      <ForkForm request={request} onClose={close} />
    </Dialog>
  );
}

type Request = NonNullable<ReturnType<typeof useForkRequest.getState>['request']>;

function ForkForm({ request, onClose }: { request: Request; onClose(): void }) {
  const own = request.session.model;
  const [model, setModel] = useState(own);
  const [agent, setAgent] = useState(agentOf(request.session));
  const [message, setMessage] = useState('');
  const { data: models = [] } = useQuery(modelsQuery);
  const { data: known } = useQuery(agentsQuery);
  const agents = [
    { value: ownAgent, label: 'Belay' },
    ...usableAgents(known).map(({ name, title }) => ({ value: name, label: title })),
  ];
  const options = [
    { value: own, label: `${own} (as now)` },
    ...models
      .filter(({ name, ready }) => ready && name !== own)
      .map(({ name, title }) => ({
        value: name,
        label: title === name ? name : `${title} (${name})`,
      })),
  ];
  const { saving, onSubmit } = useSubmit(() =>
    fork(request, { model, agent, message: message.trim() }),
  );
  return (
    <form className="space-y-4" onSubmit={onSubmit}>
      <p className="text-sm text-muted">
        A new session starts with the conversation and files at that moment. This session stays
        unchanged.
      </p>
      <Field label="Message" hint="What to do differently. Leave empty to let the agent continue.">
        <TextArea
          autoFocus
          rows={3}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
      </Field>
      <SelectField label="Model" options={options} value={model} onChange={setModel} />
      {agents.length > 1 && (
        <SelectField label="Agent" options={agents} value={agent} onChange={setAgent} />
      )}
      <div className="flex gap-2">
        <Button type="submit" look="solid" disabled={saving}>
          {saving ? 'Forking…' : 'Fork'}
        </Button>
        <Button look="ghost" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
