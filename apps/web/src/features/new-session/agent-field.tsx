import { useQuery } from '@tanstack/react-query';
import { wireFormatsOf, type AgentChoice } from '@belay/protocol';
import { Field, Select, TextField } from '@/components/ui/field';
import { whoseModels } from '@/lib/whose-models';
import { agentsQuery } from '@/lib/queries';
import { usableAgents } from '@/lib/usable-agents';

interface AgentFieldProps {
  /** The name of an agent; empty for Belay's own. */
  agent: string;
  small: string;
  models: readonly string[];
  onChange(part: { agent?: string; small?: string }): void;
}

/** The agent that works on the task. Renders nothing while none can be chosen besides Belay's own. */
export function AgentField({ agent, small, models, onChange }: AgentFieldProps) {
  const { data } = useQuery(agentsQuery);
  const usable = usableAgents(data);
  const chosen = usable.find(({ name }) => name === agent);
  if (usable.length === 0) return null;
  const misfits = chosen ? models.filter((model) => !fits(chosen, model)) : [];
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field
        label="Agent"
        hint={
          misfits.length > 0 ? (
            <strong className="text-fail">
              {chosen?.title} is for {whoseModels(chosen?.formats ?? [])}: choose one of these.
            </strong>
          ) : (
            chosen?.about
          )
        }
      >
        <Select
          value={chosen ? agent : ''}
          onChange={({ target }) => onChange({ agent: target.value })}
        >
          <option value="">Belay</option>
          {usable.map(({ name, title, version }) => (
            <option key={name} value={name}>
              {version === null ? title : `${title} ${version}`}
            </option>
          ))}
        </Select>
      </Field>
      {chosen && (
        <TextField
          label="Model for small tasks"
          hint="Of the same provider, for titles and summaries. Leave empty for the model above."
          placeholder={models[0] ?? ''}
          value={small}
          onChange={(next) => onChange({ small: next })}
        />
      )}
    </div>
  );
}

const fits = ({ formats }: AgentChoice, model: string): boolean => {
  const spoken = wireFormatsOf(model.slice(0, model.indexOf(':')));
  return formats.some((format) => spoken.includes(format));
};
