import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./repository-fetcher.spec.js'));
