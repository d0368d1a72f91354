package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type event struct {
	Type string
	Data struct {
		ReferenceId string
		Lines       []struct {
			ProductId string
			Keys      []struct{ Id, Value string }
		}
	}
}

// In production, two tables written in one transaction, with these maps' keys as their primary keys.
var events, keys sync.Map

func saveOnce(id string, body []byte) error {
	var received event
	if err := json.Unmarshal(body, &received); err != nil {
		return err
	}
	for _, line := range received.Data.Lines {
		for _, key := range line.Keys {
			keys.LoadOrStore([3]string{received.Data.ReferenceId, line.ProductId, key.Id}, key.Value)
		}
	}
	if _, isRepeated := events.LoadOrStore(id, received.Type); !isRepeated {
		log.Println(received.Type, received.Data.ReferenceId)
	}
	return nil
}

func main() {
	secret := os.Getenv("DELIVERY_SECRET")
	if secret == "" {
		log.Fatal("DELIVERY_SECRET is not set")
	}
	webhook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /events", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		} else if webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusUnauthorized)
		} else if saveOnce(r.Header.Get("webhook-id"), body) != nil {
			w.WriteHeader(http.StatusInternalServerError)
		} else {
			w.WriteHeader(http.StatusNoContent) // only after the commit
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:8088", nil))
}
