import type { UseQueryResult } from '@tanstack/react-query';
import { Failed, Loading } from './empty';

interface QueryStateProps {
  query: Pick<UseQueryResult, 'isPending' | 'isError' | 'error' | 'refetch'>;
  /** What is being loaded, such as “the tokens”. */
  what: string;
}

/** Shows that a query is loading, or why it failed. */
export const QueryState = ({ query, what }: QueryStateProps) => (
  <>
    {query.isPending && <Loading what={what} />}
    {query.isError && <Failed error={query.error} retry={() => void query.refetch()} />}
  </>
);
