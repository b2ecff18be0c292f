import { useQuery } from '@tanstack/react-query';
import { pluralText } from '@belay/protocol';
import { mcpQuery } from '@/lib/queries';
import { NamesField, type ChosenNames } from './names-field';

/** The MCP servers the session may use. */
export function McpField(chosen: ChosenNames) {
  const { data = [] } = useQuery(mcpQuery);
  const options = data
    .filter(({ enabled }) => enabled)
    .map(({ name, state, offered, tools }) => ({
      name,
      label: (
        <>
          {name}
          <span className={state === 'failed' ? 'text-fail' : 'text-faint'}>
            {state === 'connected'
              ? pluralText((tools ?? offered).length, 'tool')
              : 'not connected'}
          </span>
        </>
      ),
    }));
  return <NamesField legend="MCP servers" options={options} {...chosen} />;
}
