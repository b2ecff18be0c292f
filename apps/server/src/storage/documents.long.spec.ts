import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./documents.spec.js'));
