// The client of openapi-generator: lists, starts, follows and reads a failure.
package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	client "belay.test/client"
)

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("BELAY_URL")}}
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("BELAY_TOKEN"))
	sessions := client.NewAPIClient(configuration).SessionsAPI
	before, _, err := sessions.SessionsList(ctx).Execute()
	check(err)
	wanted := client.NewCreateSession("Say hello")
	wanted.SetModel(os.Getenv("BELAY_MODEL"))
	wanted.SetApprovals("auto")
	made, _, err := sessions.SessionsCreate(ctx).CreateSession(*wanted).Execute()
	check(err)
	after, _, err := sessions.SessionsList(ctx).Execute()
	check(err)
	assert(len(after) == len(before)+1, "The new session is not in the list.")
	var last int64
	ended := false
	for deadline := time.Now().Add(2 * time.Minute); !ended && time.Now().Before(deadline); {
		events, _, err := sessions.SessionsEvents(ctx, made.Id).After(last).Wait(20).Execute()
		check(err)
		for _, event := range events {
			assert(event.Seq == last+1, "An event is missing.")
			last = event.Seq
			if event.Action == "state" {
				switch event.Args["state"] {
				case "finished", "failed", "limited", "stopped":
					ended = true
				}
			}
		}
	}
	assert(ended, "The session has not ended.")
	_, _, err = sessions.SessionsGet(ctx, "none").Execute()
	var failure *client.GenericOpenAPIError
	assert(errors.As(err, &failure), "There is no such session.")
	problem, typed := failure.Model().(client.Problem)
	assert(typed && problem.Code == "not_found", "The failure has no code.")
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func assert(holds bool, sentence string) {
	if !holds {
		log.Fatal(sentence)
	}
}
