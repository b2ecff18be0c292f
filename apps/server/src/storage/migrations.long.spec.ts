import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./migrations.spec.js'));
