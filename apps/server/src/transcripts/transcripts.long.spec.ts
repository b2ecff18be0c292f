import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./transcripts.spec.js'));
