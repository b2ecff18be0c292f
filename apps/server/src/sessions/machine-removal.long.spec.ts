import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./machine-removal.spec.js'));
